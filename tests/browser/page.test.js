// The page over the fixture server (fixture_server.cpp): every state of it, by keyboard and on a phone.

import assert from 'node:assert/strict';
import {after, afterEach, before, beforeEach, describe, it} from 'node:test';
import {fitsWidth, launch, openPage, scratch, serve} from './support.js';

const program = process.env.ASKBASE_FIXTURE_SERVER;

describe('the page', {skip: program ? false : 'ASKBASE_FIXTURE_SERVER is not set'}, () => {
  let browser, server, base, place, opened;

  before(async () => {
    place = scratch();
    server = serve(program, [`${place.folder}/kb`]);
    base = await server.ready;
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    place?.remove();
  });
  beforeEach(async () => {
    opened = await openPage(browser);
  });
  afterEach(async () => {
    opened.trouble(base);
    await opened.context.close();
  });

  const again = async options => {
    await opened.context.close();
    opened = await openPage(browser, options);
    return opened.page;
  };
  const url = parameters => `${base}?${new URLSearchParams(parameters)}`;
  const result = page => page.locator('#result');

  it('begins with examples that can be asked', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
    assert.match(await page.locator('#facts').textContent(), /\d+ facts/);
    await page.getByText('What is the capital of Freedonia?').click();
    await result(page).waitFor();
    assert.equal(await result(page).textContent(), 'Fredville');
    assert.equal(new URL(page.url()).searchParams.get('q'), 'What is the capital of Freedonia?');
  });

  it('answers in English: answer, sentence, confidence, evidence with source and row, other answers', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.fill('#question', 'What is the capital of Freedonia?');
    await page.click('#go');
    await result(page).waitFor();
    assert.equal(await result(page).textContent(), 'Fredville');
    assert.equal(await page.locator('.answer > .sentence').textContent(), 'The capital of Freedonia is Fredville.');
    assert.equal((await page.locator('.answer > .confidence').textContent()).replace(/\s+/g, ' '), 'Confidence: Very confident93%');
    const width = await page.locator('.answer > .confidence .bar span').evaluate(bar => bar.offsetWidth / bar.parentElement.offsetWidth);
    assert.ok(Math.abs(width - 0.93) < 0.02, `bar of ${width}`);
    const evidence = page.locator('.answer > .because li').first();
    assert.match(await evidence.locator('.triple').textContent(), /Freedonia.*capital.*Fredville/);
    assert.equal(await evidence.locator('.source').textContent(), 'Source: cities.ttl · row 17');
    assert.equal(await page.locator('.others > ol > li').count(), 1);
    await page.locator('.others summary').click();
    assert.ok(await page.getByText('The capital of Sylvania is Sylburg.').isVisible());
    assert.match(await page.locator('#status').textContent(), /Fredville/);
    assert.match(await page.title(), /What is the capital of Freedonia/);
  });

  it('answers in Chinese, and speaks Chinese to a Chinese browser', async () => {
    const page = await again({locale: 'zh-CN'});
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans');
    assert.equal(await page.locator('.examples a').first().textContent(), '弗里多尼亚的首都是哪里？');
    await page.fill('#question', '弗里多尼亚的首都是哪里？');
    await page.keyboard.press('Enter');
    await result(page).waitFor();
    assert.equal(await result(page).textContent(), '弗雷德维尔');
    assert.equal(await result(page).getAttribute('lang'), 'zh');
    assert.match(await page.locator('.because').textContent(), /依据.*首都/s);
    assert.match(await page.locator('.confidence').textContent(), /有把握/);
  });

  it('switches the language of the interface and remembers it', async () => {
    const {page} = opened;
    await page.goto(url({q: 'What is the capital of Freedonia?'}));
    await result(page).waitFor();
    await page.getByRole('button', {name: '中文'}).click();
    await page.getByText('其他答案').waitFor();
    assert.equal(await page.getByRole('button', {name: '中文'}).getAttribute('aria-pressed'), 'true');
    assert.equal(await result(page).textContent(), 'Fredville');
    await page.reload();
    await page.getByText('其他答案').waitFor();
    await page.getByRole('button', {name: 'English'}).click();
    await page.getByText('Other answers').waitFor();
  });

  it('shows a sentence of a document with the answer marked, its title, page and address', async () => {
    const {page} = opened;
    await page.goto(url({q: 'Who wrote the book?'}));
    await result(page).waitFor();
    assert.equal(await result(page).textContent(), 'Ada');
    const quote = page.locator('.answer > .because .quote');
    assert.equal(await quote.locator('.sentence').textContent(), '🐋 The book is by Ada.');
    assert.equal(await quote.locator('mark').textContent(), 'Ada');
    assert.equal(await quote.locator('.source').textContent(), 'Source: Whales · page 3');
    assert.equal(await quote.locator('a').getAttribute('href'), 'https://example.org/whales');
    assert.equal(await page.locator('.answer > .sentence').count(), 0);
    await page.locator('.others summary').click();
    assert.equal(await page.locator('.others mark').textContent(), 'Brevik');
    assert.equal(await page.locator('.others .source').textContent(), 'Source: whales.pdf');
    assert.match(await page.locator('#status').textContent(), /Ada/);
  });

  it('shows long lists in part, and all of them on demand', async () => {
    const {page} = opened;
    await page.goto(url({q: 'Which villages are there?'}));
    await result(page).waitFor();
    const visible = () => page.locator('.members li:visible').count();
    assert.equal(await visible(), 12);
    await page.getByRole('button', {name: 'Show all 40'}).click();
    assert.equal(await visible(), 40);
    await page.getByRole('button', {name: 'Show fewer'}).click();
    assert.equal(await visible(), 12);
    assert.equal(await page.locator('.evidence li').count(), 6);
    await page.getByRole('button', {name: 'and 34 more facts'}).click();
    assert.equal(await page.locator('.evidence li').count(), 20);
    assert.ok(await page.getByText('and 20 more facts').isVisible());
    assert.match(await page.locator('.confidence').textContent(), /Not sure/);
  });

  it('says why there is no answer and offers what is near', async () => {
    const {page} = opened;
    await page.goto(url({q: 'Where is Fredvile?'}));
    await result(page).waitFor();
    assert.equal(await result(page).textContent(), 'The knowledge base has nothing called “Fredvile”.');
    await page.getByRole('button', {name: 'What is the capital of Freedonia?'}).click();
    await page.locator('#view').getByText('The capital of Freedonia is Fredville.').waitFor();
    await page.goBack();
    await page.getByRole('button', {name: 'Fredville', exact: true}).click();
    await page.getByText('Also called').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('entity'), 'urn:x:Fredville');
  });

  it('lets an ambiguous name be chosen, keeps the choice in the URL, and takes it back', async () => {
    const {page} = opened;
    await page.goto(url({q: 'How many people live in Springfield?'}));
    await result(page).waitFor();
    await page.getByRole('button', {name: /city in Illinois/}).click();
    await page.getByText('116,565').first().waitFor();
    assert.equal(new URL(page.url()).searchParams.get('pin'), 'Springfield=urn:x:Springfield_IL');
    await page.reload();
    await page.getByText('116,565').first().waitFor();
    await page.getByRole('button', {name: 'Undo'}).click();
    await page.locator('#view').getByText('please choose one').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('pin'), null);
  });

  it('goes back and forward between questions, answers and entities', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().click();
    await page.locator('#view').getByText('The capital of Freedonia is Fredville.').waitFor();
    await page.locator('#result a').click();
    await page.getByText('Also called').waitFor();
    await page.goBack();
    await page.locator('#view').getByText('The capital of Freedonia is Fredville.').waitFor();
    assert.equal(await page.inputValue('#question'), 'What is the capital of Freedonia?');
    await page.goBack();
    await page.locator('.examples').waitFor();
    assert.equal(await page.inputValue('#question'), '');
    await page.goForward();
    await page.locator('#view').getByText('The capital of Freedonia is Fredville.').waitFor();
  });

  it('shows what is known about an entity, page by page', async () => {
    const {page} = opened;
    await page.goto(url({entity: 'urn:x:Freedonia'}));
    await result(page).waitFor();
    assert.equal(await result(page).textContent(), 'Freedonia');
    assert.match(await page.locator('.names').textContent(), /弗里多尼亚/);
    assert.match(await page.locator('.fact', {hasText: 'area'}).textContent(), /123,456 km².*cities\.ttl · row 5/s);
    const mentions = page.locator('.about').last().locator('li');
    assert.equal(await mentions.count(), 100);
    await page.getByRole('button', {name: /Show more \(30 left\)/}).click();
    await page.waitForFunction(() => document.querySelectorAll('.about:last-of-type li').length === 130);
    assert.equal(await page.getByRole('button', {name: /Show more/}).count(), 0);
    await page.locator('.fact', {hasText: 'capital'}).locator('a').click();
    await page.waitForFunction(() => document.getElementById('result')?.textContent === 'Fredville');
    await page.goto(url({entity: 'urn:x:nobody'}));
    await page.locator('#view').getByText(/no entity with the id/).waitFor();
  });

  it('suggests while typing, by the pattern of an accessible combobox', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    const input = page.getByRole('combobox', {name: 'Your question'});
    assert.equal(await input.getAttribute('aria-expanded'), 'false');
    await input.pressSequentially('What is the');
    const options = page.getByRole('option');
    await options.first().waitFor();
    assert.equal(await input.getAttribute('aria-expanded'), 'true');
    assert.equal(await options.first().textContent(), 'What is the capital of Freedonia?');
    await page.keyboard.press('ArrowDown');
    assert.equal(await options.first().getAttribute('aria-selected'), 'true');
    assert.equal(await input.getAttribute('aria-activedescendant'), await options.first().getAttribute('id'));
    await page.keyboard.press('Escape');
    assert.equal(await options.count(), 0);
    assert.equal(await page.inputValue('#question'), 'What is the');
    await page.keyboard.press('Escape');
    assert.equal(await page.inputValue('#question'), '');
    await input.pressSequentially('Freed');
    await page.getByRole('option', {name: /Freedonia/}).first().click();
    await page.getByText('Also called').waitFor();
  });

  it('does not take the Enter of an input method for its own', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    await page.focus('#question');
    const session = await page.context().newCDPSession(page);
    await session.send('Input.imeSetComposition', {text: '弗里', selectionStart: 2, selectionEnd: 2});
    await page.evaluate(() => document.getElementById('question').dispatchEvent(
      new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true})));
    await session.send('Input.insertText', {text: '弗里多尼亚'});
    assert.equal(await page.inputValue('#question'), '弗里多尼亚');
    assert.equal(new URL(page.url()).search, '');
  });

  it('works with the keyboard alone', async () => {
    const {page} = opened;
    await page.goto(url({q: 'Where is Fredvile?'}));
    await result(page).waitFor();
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
    await page.keyboard.type('What is the capital of Freedonia?');  // "/" selected what was there
    await page.keyboard.press('Enter');
    await page.locator('#view').getByText('The capital of Freedonia is Fredville.').waitFor();
    // Tab goes through everything that can be used, in the order of the page, each with a visible ring.
    const visited = [];
    for (let i = 0; i < 14; i++) {
      await page.keyboard.press('Tab');
      visited.push(await page.evaluate(() => {
        const at = document.activeElement, style = getComputedStyle(at);
        const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
        return {what: at.id || at.textContent.trim() || at.tagName, ring, body: at === document.body};
      }));
    }
    const names = visited.map(one => one.what);
    for (const wanted of ['clear', 'go', 'Fredville', 'Freedonia', 'API']) assert.ok(names.includes(wanted), `${wanted} in ${names}`);
    assert.ok(names.indexOf('clear') < names.indexOf('go') && names.indexOf('go') < names.indexOf('Freedonia'));
    for (const one of visited) if (!one.body && one.what !== 'question') assert.ok(one.ring, `a ring around ${one.what}`);
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    assert.equal(await page.inputValue('#question'), '');
  });

  it('fits a phone of 320 pixels in every view', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await again({viewport: {width: 320, height: 640}, isMobile: true, hasTouch: true, colorScheme});
      for (const parameters of [{}, {q: 'What is the capital of Freedonia?'}, {q: 'Which villages are there?'}, {q: 'Who wrote the book?'},
        {q: 'How many people live in Springfield?'}, {q: 'x'.repeat(300)}, {q: 'attack'}, {entity: 'urn:x:Freedonia'}]) {
        await page.goto(url(parameters));
        await page.locator('#view > *').first().waitFor();
        assert.ok(await fitsWidth(page), `no sideways scrolling with ${JSON.stringify(parameters).slice(0, 60)}`);
      }
      await page.goto(`${base}docs`);
      await page.locator('.operation').first().waitFor();
      assert.ok(await fitsWidth(page), 'docs');
    }
  });

  it('is dark in the dark, and legible in both', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await again({colorScheme});
      await page.goto(url({q: 'What is the capital of Freedonia?'}));
      await result(page).waitFor();
      await page.locator('.others summary').click();
      const low = await page.evaluate(() => {
        const parse = text => text.match(/[\d.]+/g).map(Number);
        const light = ([r, g, b]) => {
          const [x, y, z] = [r, g, b].map(v => v / 255).map(v => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
          return 0.2126 * x + 0.7152 * y + 0.0722 * z;
        };
        const behind = element => {
          for (let at = element; at; at = at.parentElement) {
            const color = parse(getComputedStyle(at).backgroundColor);
            if (color.length < 4 || color[3] > 0) return color;
          }
          return [255, 255, 255];
        };
        const found = [];
        for (const element of document.querySelectorAll('body *')) {
          const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '');
          if (!own || element.closest('.hidden, noscript, [hidden]') || element.offsetParent === null) continue;
          const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
          const ratio = (a + 0.05) / (b + 0.05);
          if (ratio < 4.5) found.push(`${element.className || element.tagName} ${ratio.toFixed(2)}`);
        }
        return {found, page: light(parse(getComputedStyle(document.body).backgroundColor))};
      });
      assert.deepEqual(low.found, [], `contrast in ${colorScheme}`);
      assert.equal(low.page < 0.2, colorScheme === 'dark');
    }
  });

  it('shows markup from the knowledge base as text', async () => {
    const {page} = opened;
    for (const parameters of [{q: 'attack'}, {q: 'quoted attack'}, {entity: 'urn:x:evil'}, {q: '<img src=x onerror=alert(1)>'}]) {
      await page.goto(url(parameters));
      await result(page).waitFor();
      assert.match(await page.locator('#view').textContent(), /<img src=x/);
      assert.equal(await page.locator('#view img, #view script').count(), 0);
      assert.notEqual(await page.title(), 'XSS');
      // No address from the knowledge base is followed.
      for (const href of await page.locator('#view a').evaluateAll(links => links.map(link => link.href))) {
        assert.ok(href.startsWith(base), href);
      }
    }
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    await page.locator('#question').pressSequentially('<im');
    await page.getByRole('option').first().waitFor();
    assert.equal(await page.locator('.suggestions img').count(), 0);
  });

  it('says that it works on a slow answer, and drops it when another question comes', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    await page.fill('#question', 'slow');
    await page.keyboard.press('Enter');
    await page.locator('#view[aria-busy=true]').waitFor();
    assert.equal(await page.locator('#status').textContent(), 'Looking for an answer…');
    await page.fill('#question', 'How many people live in Springfield?');
    await page.keyboard.press('Enter');
    await page.locator('#view').getByText('please choose one').waitFor();
    await page.waitForTimeout(1800);
    assert.match(await result(page).textContent(), /please choose one/);
    assert.equal(await page.locator('#view[aria-busy]').count(), 0);
  });

  it('says when the server is gone, and goes on when it is back', async () => {
    const {page} = opened;
    const own = scratch();
    let other = serve(program, [`${own.folder}/kb`]);
    const address = await other.ready;
    try {
      await page.goto(`${address}?q=attack`);
      await result(page).waitFor();
      await other.stop();
      await page.fill('#question', 'What is the capital of Freedonia?');
      await page.keyboard.press('Enter');
      await page.getByText('The server cannot be reached. Is it still running?').first().waitFor();
      other = serve(program, [`${own.folder}/kb`, new URL(address).port]);
      await other.ready;
      await page.getByRole('button', {name: 'Try again'}).click();
      await page.locator('#view').getByText('The capital of Freedonia is Fredville.').waitFor();
    } finally {
      await other.stop();
      own.remove();
      opened.requests.length = 0;  // they went to the other server
    }
  });

  it('names a refusal in the words of the server', async () => {
    const {page} = opened;
    await page.goto(url({q: '问'.repeat(2100)}));
    await page.getByText(/longer than 2000 characters|longer than \d+ bytes/).first().waitFor();
  });

  it('describes the API', async () => {
    const {page} = opened;
    await page.goto(`${base}docs`);
    await page.locator('.operation').first().waitFor();
    assert.ok(await page.locator('.operation').count() >= 10);
    await page.locator('.operation summary').first().click();
    assert.match(await page.locator('.operation').first().textContent(), /timeout_ms/);
  });

  it('asks nothing of the outside', async () => {
    // afterEach() looks at the requests of every test; here the page is left alone for a while.
    const {page, requests} = opened;
    await page.goto(base);
    await page.waitForTimeout(1500);
    assert.ok(requests.length >= 8);
    assert.ok(requests.every(one => one.startsWith(base)), requests.join(' '));
  });
});
