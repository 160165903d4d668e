// Suggestions while typing: the ARIA combobox pattern with a list of options. The field keeps the focus; the
// arrow keys move through the list.

import {suggest} from './api.js';
import {h, replace} from './dom.js';
import {t} from './i18n.js';

const delay = 120;

export class Combobox {
  // choose(suggestion) is called for a chosen one: {text, kind, id?}.
  constructor(input, list, status, choose) {
    Object.assign(this, {input, list, status, choose, items: [], active: -1, pending: null, timer: 0});
    input.addEventListener('input', () => this.refresh());
    input.addEventListener('keydown', event => this.key(event));
    input.addEventListener('blur', () => this.close());
    // The mouse must not take the focus from the field before the click arrives.
    list.addEventListener('mousedown', event => event.preventDefault());
    list.addEventListener('click', event => {
      const option = event.target.closest('[role=option]');
      if (option) this.take(Number(option.dataset.index));
    });
  }

  get isOpen() {
    return !this.list.hidden;
  }

  refresh() {
    clearTimeout(this.timer);
    this.pending?.abort();
    const text = this.input.value;
    if (text.trim() === '' || [...text].length > 200) return this.close();
    this.timer = setTimeout(() => this.load(text), delay);
  }

  async load(text) {
    const pending = this.pending = new AbortController();
    try {
      const {suggestions} = await suggest(text, '', pending.signal);
      if (pending.signal.aborted || this.input.value !== text || document.activeElement !== this.input) return;
      this.show(suggestions.filter(one => one.text !== text));
    } catch {
      this.close();  // suggestions are a comfort: without them the page works on
    }
  }

  show(items) {
    this.items = items;
    this.active = -1;
    if (items.length === 0) return this.close();
    replace(this.list, items.map((item, index) => h('li', {
      role: 'option', id: `suggestion-${index}`, 'data-index': index, 'aria-selected': 'false',
    }, h('span', {class: 'what'}, item.text), item.kind === 'entity' && h('span', {class: 'kind'}, t('kind_entity')))));
    this.list.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
    this.input.removeAttribute('aria-activedescendant');
    this.status.textContent = t('suggestions_count', items.length);
  }

  close() {
    clearTimeout(this.timer);
    this.pending?.abort();
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  move(to) {
    const options = this.list.children;
    options[this.active]?.setAttribute('aria-selected', 'false');
    this.active = (to + this.items.length + 1) % (this.items.length + 1);
    if (this.active === this.items.length) this.active = -1;  // back in the field
    const option = options[this.active];
    if (option) {
      option.setAttribute('aria-selected', 'true');
      option.scrollIntoView({block: 'nearest'});
      this.input.setAttribute('aria-activedescendant', option.id);
    } else {
      this.input.removeAttribute('aria-activedescendant');
    }
  }

  take(index) {
    const item = this.items[index];
    this.close();
    this.choose(item);
  }

  key(event) {
    // Keys that an input method takes (Enter that commits pinyin, say) are not ours.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!this.isOpen) {
        if (event.key === 'ArrowDown') this.refresh();
        return;
      }
      event.preventDefault();
      this.move(event.key === 'ArrowDown' ? this.active + 1 : this.active < 0 ? this.items.length - 1 : this.active - 1);
    } else if (event.key === 'Enter' && this.isOpen && this.active >= 0) {
      event.preventDefault();
      this.take(this.active);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (this.isOpen) this.close();
      else if (this.input.value !== '') {
        this.input.value = '';
        this.input.dispatchEvent(new Event('input', {bubbles: true}));
      }
    } else if (event.key === 'Tab') {
      this.close();
    }
  }
}
