// The page: one question field, and below it an answer, an entity, or where to begin. What is shown follows
// from the URL alone (?q=, ?pin=, ?entity=), so it can be shared and the back button works.

import * as api from './api.js';
import {answerView} from './answer_view.js';
import {Combobox} from './combobox.js';
import {h, replace} from './dom.js';
import {entityView} from './entity_view.js';
import {language, number, setLanguage, startLanguage, t} from './i18n.js';

const $ = id => document.getElementById(id);
const view = $('view'), input = $('question'), status = $('status');
const slow = 250;  // milliseconds until the page says that it is working

let running = null;            // AbortController of what is being fetched
const pinLabels = new Map();   // id -> label of entities that were chosen by hand

// --- The URL ---

function readUrl() {
  const parameters = new URLSearchParams(location.search);
  const pins = {};
  for (const pin of parameters.getAll('pin')) {
    const at = pin.indexOf('=');
    if (at > 0) pins[pin.slice(0, at)] = pin.slice(at + 1);
  }
  return {q: (parameters.get('q') ?? '').trim(), pins, entity: parameters.get('entity') ?? ''};
}

function go({q = '', pins = {}, entity = ''}, replaceEntry = false) {
  const parameters = new URLSearchParams();
  if (entity) parameters.set('entity', entity);
  else if (q) {
    parameters.set('q', q);
    for (const [mention, id] of Object.entries(pins)) parameters.append('pin', `${mention}=${id}`);
  }
  const search = parameters.toString();
  const url = search ? `?${search}` : location.pathname;
  const same = (location.search || '') === (search ? `?${search}` : '');
  history[replaceEntry || same ? 'replaceState' : 'pushState'](null, '', url);
  show();
}

// --- What is shown ---

async function show({focus = true} = {}) {
  running?.abort();
  const {signal} = running = new AbortController();
  const {q, pins, entity} = readUrl();
  input.value = q;
  $('clear').hidden = q === '';
  document.body.dataset.view = entity ? 'entity' : q ? 'answer' : 'start';
  document.title = q ? `${q} – ${t('title')}` : t('title');
  combobox.close();
  const waiting = setTimeout(() => {
    document.body.dataset.busy = '';
    view.setAttribute('aria-busy', 'true');
    status.textContent = t('loading');
  }, slow);
  try {
    const content = entity ? await loadEntity(entity, signal) : q ? await loadAnswer(q, pins, signal) : await loadStart(signal);
    if (signal.aborted) return;
    replace(view, content);
    if (entity || q) {
      window.scrollTo({top: 0});
      if (focus && document.activeElement !== input) $('result')?.focus({preventScroll: true});
    }
  } catch (failure) {
    if (signal.aborted) return;
    replace(view, failureView(failure));
  } finally {
    clearTimeout(waiting);
    if (!signal.aborted) {
      delete document.body.dataset.busy;
      view.removeAttribute('aria-busy');
    }
  }
}

async function loadAnswer(q, pins, signal) {
  const response = await api.ask(q, pins, signal);
  const [first] = response.answers;
  status.textContent = first ? `${t('answer_is', first.answer)}. ${first.sentence}` : response.reason_sentence ?? t('no_answer');
  return answerView(response, {
    pins,
    pinLabel: id => pinLabels.get(id),
    ask: (question, chosen) => go({q: question, pins: chosen}),
    openEntity: id => go({entity: id}),
    findEntity: name => findEntity(name),
    pin: (mention, id, label) => {
      pinLabels.set(id, label);
      go({q, pins: {...pins, [mention]: id}});
    },
    unpin: mention => {
      const {[mention]: _, ...rest} = pins;
      go({q, pins: rest});
    },
  });
}

async function findEntity(name) {
  try {
    const {entities} = await api.search(name, language());
    if (entities.length > 0) return go({entity: entities[0].id});
  } catch {
    // The question says what is wrong, if anything is.
  }
  go({q: name});
}

async function loadEntity(id, signal) {
  const data = await api.entity(id, language(), {limit: 100}, signal);
  document.title = `${data.label} – ${t('title')}`;
  status.textContent = data.label;
  return entityView(data, {openEntity: other => go({entity: other})});
}

async function loadStart(signal) {
  status.textContent = '';
  const [{suggestions}] = await Promise.all([api.suggest('', language(), signal), showFacts()]);
  const asks = text => h('a', {
    href: `?${new URLSearchParams({q: text})}`,
    onclick: event => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      go({q: text});
    },
  }, text);
  return h('div', {class: 'start'},
    h('h1', {}, t('headline')),
    h('p', {class: 'introduction'}, t('introduction')),
    suggestions.length > 0
      ? h('section', {class: 'examples'}, h('h2', {}, t('examples')), h('ul', {}, suggestions.map(one => h('li', {lang: language()}, asks(one.text)))))
      : h('p', {class: 'note'}, t('empty_kb')));
}

function failureView(failure) {
  const text = failure.kind === 'timeout' ? t('timeout')
    : failure.kind === 'unreachable' ? t('unreachable')
    : failure.kind === 'refused' ? failure.detail
    : String(failure.message);
  status.textContent = text;
  return h('div', {class: 'failure'}, h('p', {tabindex: '-1', id: 'result'}, text),
    h('button', {type: 'button', onclick: () => show()}, t('retry')));
}

async function showFacts() {
  try {
    const {kb, passages} = await api.readiness();
    $('facts').textContent = [t('facts_loaded', number(kb.facts)),
      ...(passages?.documents > 0 ? [t('documents_loaded', number(passages.documents))] : [])].join(' · ');
  } catch {
    $('facts').textContent = '';
  }
}

// --- The interface's language ---

function wordPage() {
  document.documentElement.lang = language() === 'zh' ? 'zh-Hans' : 'en';
  for (const element of document.querySelectorAll('[data-text]')) element.textContent = t(element.dataset.text);
  for (const button of document.querySelectorAll('[data-ui]')) {
    button.setAttribute('aria-pressed', String(button.dataset.ui === language()));
  }
  input.placeholder = t('placeholder');
  $('go').setAttribute('aria-label', t('ask'));
  $('clear').setAttribute('aria-label', t('clear'));
}

// --- Events ---

const combobox = new Combobox(input, $('suggestions'), status, chosen => {
  input.value = chosen.text;
  go(chosen.kind === 'entity' ? {entity: chosen.id} : {q: chosen.text});
});

$('ask').addEventListener('submit', event => {
  event.preventDefault();
  combobox.close();
  const q = input.value.trim();
  if (q === '') return input.focus();
  const {q: before, pins} = readUrl();
  go({q, pins: q === before ? pins : {}});
});

input.addEventListener('input', () => { $('clear').hidden = input.value === ''; });
$('clear').addEventListener('click', () => {
  input.value = '';
  $('clear').hidden = true;
  combobox.close();
  input.focus();
});
$('home').addEventListener('click', event => {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go({});
  input.focus();
});
document.querySelector('.switch').addEventListener('click', event => {
  const chosen = event.target.closest('[data-ui]')?.dataset.ui;
  if (!chosen || chosen === language()) return;
  setLanguage(chosen);
  wordPage();
  showFacts();
  show({focus: false});
});
document.addEventListener('keydown', event => {
  const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
    input.select();
  }
});
window.addEventListener('popstate', () => show());

startLanguage();
wordPage();
if (readUrl().q === '' && readUrl().entity === '') input.focus();
else showFacts();
show();
