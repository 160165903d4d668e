// An answer, or the reason why there is none, as elements.

import {h} from './dom.js';
import {number, t} from './i18n.js';

const members_shown = 12;
const members_large = 4;  // so few are shown as large as a single answer

// actions: {ask(question, pins), openEntity(id), findEntity(name), pins}
export function answerView(response, actions) {
  const [first, ...others] = response.answers;
  const view = first ? foundView(first, response, actions) : reasonView(response, actions);
  view.prepend(h('p', {class: 'asked', lang: response.lang}, response.question));
  view.append(...pinnedViews(response, actions), ...ambiguityViews(response, actions));
  if (others.length > 0) view.append(othersView(others, response, actions));
  const total = response.timings_ms?.total;
  if (typeof total === 'number') view.append(h('p', {class: 'timing'}, t('answered_in', number(Number(total.toPrecision(2))))));
  return view;
}

function foundView(answer, response, actions) {
  const list = answer.values.length > 1;
  return h('article', {class: 'answer'},
    list ? membersView(answer, response, actions)
         : h('h1', {class: 'value', lang: response.lang, tabindex: '-1', id: 'result'}, valueView(answer, actions)),
    answer.kind !== 'span' && h('p', {class: 'sentence', lang: response.lang}, answer.sentence),
    confidenceView(answer.confidence),
    evidenceView(answer, response, actions));
}

// The answer itself, leading to the entity where it is one.
function valueView(answer, actions) {
  return answer.id ? entityLink(answer.id, answer.answer, actions) : answer.answer;
}

export function entityLink(id, text, actions) {
  return h('a', {
    href: entityUrl(id), class: 'entity', title: t('open_entity', text),
    onclick: event => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      actions.openEntity(id);
    },
  }, text);
}

export const entityUrl = id => `?${new URLSearchParams({entity: id})}`;

function membersView(answer, response, actions) {
  if (answer.values.length <= members_large) {
    return h('h1', {class: 'value few', lang: response.lang, tabindex: '-1', id: 'result'}, answer.values.map(value =>
      h('span', {class: 'one'}, value.id ? entityLink(value.id, value.text, actions) : value.text, value.unit && ` ${value.unit}`)));
  }
  const items = answer.values.map((value, index) => h('li', {hidden: index >= members_shown},
    value.id ? entityLink(value.id, value.text, actions) : value.text,
    value.unit && ` ${value.unit}`));
  const list = h('ul', {class: 'members', lang: response.lang}, items);
  const view = h('div', {},
    h('h1', {class: 'value list-heading', lang: response.lang, tabindex: '-1', id: 'result'}, t('members', number(items.length))),
    list);
  if (items.length > members_shown) {
    const button = h('button', {
      type: 'button', class: 'quiet', 'aria-expanded': 'false',
      onclick: () => {
        const open = button.getAttribute('aria-expanded') === 'false';
        button.setAttribute('aria-expanded', String(open));
        button.textContent = open ? t('show_fewer') : t('show_all', number(items.length));
        items.forEach((item, index) => { item.hidden = !open && index >= members_shown; });
      },
    }, t('show_all', number(items.length)));
    view.append(button);
  }
  return view;
}

function confidenceWord(confidence) {
  return confidence >= 0.9 ? t('certain') : confidence >= 0.7 ? t('likely') : confidence >= 0.5 ? t('unsure') : t('guess');
}

function confidenceView(confidence) {
  const percent = percentOf(confidence);
  const bar = h('span', {class: 'bar', 'aria-hidden': 'true'}, h('span', {}));
  bar.firstChild.style.width = `${percent}%`;
  return h('p', {class: 'confidence', 'data-level': confidence >= 0.7 ? 'high' : confidence >= 0.5 ? 'middle' : 'low'},
    h('span', {class: 'hidden'}, `${t('confidence')}: `),
    bar, h('span', {class: 'word'}, confidenceWord(confidence)), h('span', {class: 'percent'}, percentText(confidence)));
}

// Nothing is certain: 99.8 is not shown as 100.
const percentOf = confidence => Math.min(99, Math.round(confidence * 100));
const percentText = confidence => `${confidence > 0.99 ? '> ' : ''}${percentOf(confidence)}%`;

function placeView(place, actions) {
  const text = place.label || place.value || place.id;
  return place.id && !place.id.startsWith('_:') ? entityLink(place.id, text, actions) : text;
}

export function sourceView(source, row) {
  return h('span', {class: 'source'}, h('span', {class: 'hidden'}, `${t('source')}: `), source,
    row ? h('span', {class: 'row'}, ` · ${t('row', row)}`) : null);
}

// A sentence of a document with the answer marked in it, and where it stands.
function quoteView({document, title, url, page, sentence}, response) {
  const {text, start_utf16: start, end_utf16: end} = sentence;
  const name = title || document;
  return h('li', {class: 'quote'},
    h('blockquote', {class: 'sentence', lang: response.lang}, text.slice(0, start), h('mark', {}, text.slice(start, end)), text.slice(end)),
    h('span', {class: 'source'}, h('span', {class: 'hidden'}, `${t('source')}: `),
      isWebAddress(url) ? h('a', {href: url, rel: 'noopener noreferrer'}, name) : name,
      page ? h('span', {class: 'row'}, ` · ${t('page', page)}`) : null));
}

// Documents may come from anyone: no other scheme becomes a link.
function isWebAddress(url) {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}

function evidenceView(answer, response, actions) {
  if (answer.evidence.length === 0) return null;
  const shown = answer.evidence.slice(0, 6), rest = answer.evidence.slice(6);
  const item = evidence => (evidence.triple ? factView(evidence) : quoteView(evidence, response));
  const factView = ({triple, source, row}) => h('li', {},
    h('span', {class: 'triple', lang: response.lang},
      h('span', {class: 'subject'}, placeView(triple.subject, actions)), ' ',
      h('span', {class: 'predicate'}, triple.predicate.label || triple.predicate.id), ' ',
      h('span', {class: 'object'}, placeView(triple.object, actions))),
    sourceView(source, row));
  const list = h('ul', {class: 'evidence'}, shown.map(item));
  const section = h('section', {class: 'because'}, h('h2', {}, t(answer.kind === 'span' ? 'found_in' : 'because')), list);
  const left = answer.evidence_total - shown.length;
  const more = answer.kind === 'span' ? 'more_places' : 'more_evidence';
  if (left > 0) {
    // The response holds at most 20; the number says how many there are.
    section.append(rest.length === 0 ? h('p', {class: 'note'}, t(more, number(left))) : h('button', {
      type: 'button', class: 'quiet',
      onclick: event => {
        list.append(...rest.map(item));
        const unseen = answer.evidence_total - answer.evidence.length;
        event.currentTarget.replaceWith(unseen > 0 ? h('p', {class: 'note'}, t(more, number(unseen))) : '');
      },
    }, t(more, number(left))));
  }
  return section;
}

function othersView(answers, response, actions) {
  return h('section', {class: 'others'}, h('h2', {}, t('others')), h('ol', {}, answers.map(answer => h('li', {},
    h('details', {},
      h('summary', {}, h('span', {class: 'other', lang: response.lang}, answer.answer),
        h('span', {class: 'percent'}, percentText(answer.confidence))),
      answer.kind !== 'span' && h('p', {class: 'sentence', lang: response.lang}, answer.sentence),
      evidenceView(answer, response, actions))))));
}

function reasonView(response, actions) {
  const view = h('article', {class: 'answer none'},
    response.reason !== 'ambiguous' && h('p', {class: 'no-answer'}, t('no_answer')),
    h('h1', {class: 'reason', lang: response.lang, tabindex: '-1', id: 'result'}, response.reason_sentence || t('no_answer')));
  if (response.alternatives?.length > 0) {
    view.append(h('section', {class: 'nearest'}, h('h2', {}, t('nearest')),
      h('ul', {class: 'choices'}, response.alternatives.map(text => h('li', {}, h('button', {
        type: 'button', lang: response.lang,
        onclick: () => (isQuestion(text) ? actions.ask(text, {}) : actions.findEntity(text)),
      }, text))))));
  }
  return view;
}

// Alternatives are questions or names.
const isQuestion = text => /[?？]$/.test(text) || /^(什么|谁|哪)/.test(text);

// The label of an entity, where the response names it.
function labelIn(response, id) {
  for (const {evidence} of response.answers) {
    for (const {triple} of evidence.filter(one => one.triple)) {
      for (const place of [triple.subject, triple.object]) if (place.id === id) return place.label;
    }
  }
  return response.ambiguous?.flatMap(one => one.candidates).find(one => one.id === id)?.label;
}

function pinnedViews(response, actions) {
  return Object.entries(actions.pins).map(([mention, id]) => h('p', {class: 'pinned'},
    t('pinned', mention), ' ', entityLink(id, actions.pinLabel(id) ?? labelIn(response, id) ?? id, actions), ' ',
    h('button', {type: 'button', class: 'quiet', onclick: () => actions.unpin(mention)}, t('unpin'))));
}

function ambiguityViews(response, actions) {
  return (response.ambiguous ?? []).map(({mention, candidates}) => h('section', {class: 'which'},
    h('h2', {class: response.reason === 'ambiguous' && response.ambiguous.length === 1 ? 'hidden' : null},
      response.answers.length > 0 ? t('other_reading', mention) : t('which', mention)),
    h('ul', {class: 'choices'}, candidates.filter(one => actions.pins[mention] !== one.id).map(one => h('li', {}, h('button', {
      type: 'button', lang: response.lang,
      onclick: () => actions.pin(mention, one.id, one.label),
    }, h('span', {class: 'label'}, one.label), one.description && h('span', {class: 'description'}, one.description),
      h('span', {class: 'count'}, t('facts_of', one.facts))))))));
}
