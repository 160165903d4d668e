// What is known about one entity: its names, the facts it is the subject of, and those that mention it.

import {entity as fetchEntity} from './api.js';
import {entityLink, sourceView} from './answer_view.js';
import {h} from './dom.js';
import {language, number, t} from './i18n.js';

const page_size = 100;

export function entityView(data, actions) {
  const names = [...new Set(data.names.map(name => name.text))].filter(name => name !== data.label);
  return h('article', {class: 'entity-page'},
    data.types.length > 0 && h('p', {class: 'types'}, data.types.map(type => type.label).join(' · ')),
    h('h1', {class: 'value', tabindex: '-1', id: 'result'}, data.label),
    names.length > 0 && h('p', {class: 'names'}, h('span', {class: 'names-label'}, `${t('also_called')} `),
      names.map((name, index) => [index > 0 && ' · ', h('span', {class: 'name'}, name)])),
    factsView(data, 'out', actions),
    factsView(data, 'in', actions),
    h('p', {class: 'id'}, data.id));
}

function factsView(data, direction, actions) {
  const first = data[direction];
  // Names stand at the top already.
  if (!first || first.total === 0 || (direction === 'out' && first.facts.every(fact => fact.is_name) && !first.next)) {
    return null;
  }
  const table = h('div', {class: 'facts'});
  const groups = new Map();
  const append = facts => {
    for (const fact of facts.filter(one => !one.is_name)) {
      let values = groups.get(fact.predicate.value);
      if (!values) {
        values = h('ul', {});
        groups.set(fact.predicate.value, values);
        table.append(h('div', {class: 'fact'}, h('h3', {}, fact.predicate.label ?? fact.predicate.value), values));
      }
      values.append(h('li', {}, h('span', {class: 'object'}, termView(direction === 'out' ? fact.object : fact.subject, fact, actions)),
        fact.sources.map(source => sourceView(source.name, source.row))));
    }
  };
  append(first.facts);
  const section = h('section', {class: 'about'},
    h('h2', {}, direction === 'out' ? t('facts_about') : t('mentioned_in'),
      direction === 'in' && h('span', {class: 'count'},
        ` ${first.total_is_at_least ? t('at_least', number(first.total)) : number(first.total)}`)),
    table);
  if (first.next !== undefined) section.append(moreButton(data, direction, first, append));
  return section;
}

function moreButton(data, direction, first, append) {
  let next = first.next;
  const button = h('button', {
    type: 'button', class: 'quiet',
    onclick: async () => {
      button.disabled = true;
      try {
        const page = (await fetchEntity(data.id, language(), {direction, offset: next, limit: page_size}))[direction];
        append(page.facts);
        next = page.next;
        if (next === undefined) return button.remove();
        button.textContent = t('more', number(first.total - next));
      } catch (failure) {
        button.textContent = `${t(failure.kind === 'timeout' ? 'timeout' : 'unreachable')} ${t('retry')}`;
      }
      button.disabled = false;
    },
  }, t('more', number(first.total - next)));
  return button;
}

function termView(term, fact, actions) {
  if (term.type === 'iri') return entityLink(term.value, term.label, actions);
  if (term.type === 'blank') return term.label || term.value;
  const text = /^-?\d{4,}(\.\d+)?$/.test(term.value) && /#(integer|decimal|double)$/.test(term.datatype ?? '')
    ? new Intl.NumberFormat(language(), {maximumFractionDigits: 20}).format(term.value) : term.value;
  return [h('span', {lang: term.lang || null}, text), fact.predicate.unit && ` ${fact.predicate.unit}`];
}
