// The page over the real program and the default knowledge base.

import assert from 'node:assert/strict';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {after, afterEach, before, beforeEach, describe, it} from 'node:test';
import {launch, openPage, run, scratch, serve} from './support.js';

const program = process.env.ASKBASE_BINARY;
const atlas = join(process.env.ASKBASE_SOURCE_DIR ?? '../..', 'datasets', 'atlas');

describe('askbase serve with atlas', {skip: program ? false : 'ASKBASE_BINARY is not set'}, () => {
  let browser, server, base, place, opened;

  before(async () => {
    place = scratch();
    const kb = `${place.folder}/kb`;
    const files = readdirSync(atlas).filter(name => /\.ttl(\.gz)?$/.test(name)).map(name => join(atlas, name));
    await run(program, ['--kb', kb, 'load', ...files]);
    server = serve(program, ['--kb', kb, 'serve', '--port', '0']);
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

  const ask = async question => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    await page.fill('#question', question);
    await page.keyboard.press('Enter');
    await page.locator('#result').waitFor();
    return page;
  };

  it('answers in English with evidence', async () => {
    const page = await ask('What is the capital of France?');
    assert.equal(await page.locator('#result').textContent(), 'Paris');
    assert.match(await page.locator('.because').first().textContent(), /France.*capital.*Paris.*countries\.ttl · row \d+/s);
  });

  it('answers in Chinese with evidence', async () => {
    const page = await ask('法国的首都是哪里？');
    assert.equal(await page.locator('#result').textContent(), '巴黎');
    assert.match(await page.locator('.because').first().textContent(), /法国.*首都.*巴黎.*countries\.ttl/s);
  });

  it('lists many and opens one', async () => {
    const page = await ask('Which countries border Germany?');
    await page.locator('.members a', {hasText: /^Denmark$|^France$|^Poland$/}).first().click();
    await page.locator('.types').waitFor();
    assert.match(await page.locator('.types').textContent(), /country/);
  });

  it('lets one of several Springfields be chosen', async () => {
    const page = await ask('What is the population of Springfield?');
    await page.getByRole('button', {name: /Illinois/}).click();
    await page.locator('.pinned').waitFor();
    assert.match(await page.locator('#result').textContent(), /\d/);
  });

  it('says why it has no answer', async () => {
    const page = await ask('What is the capital of Zzyzxland?');
    assert.equal(await page.locator('.no-answer').textContent(), 'No answer');
    assert.match(await page.locator('#result').textContent(), /Zzyzxland/i);
  });

  it('has an answer to each of its examples', async () => {
    for (const locale of ['en-US', 'zh-CN']) {
      await opened.context.close();
      opened = await openPage(browser, {locale});
      const {page} = opened;
      await page.goto(base);
      await page.locator('.examples a').first().waitFor();
      const questions = await page.locator('.examples a').allTextContents();
      assert.ok(questions.length >= 4);
      for (const question of questions) {
        await page.goto(`${base}?${new URLSearchParams({q: question})}`);
        await page.locator('#result').waitFor();
        assert.equal(await page.locator('.no-answer').count(), 0, question);
      }
    }
  });

  it('completes a question', async () => {
    const {page} = opened;
    await page.goto(base);
    await page.locator('.examples a').first().waitFor();
    await page.locator('#question').pressSequentially('What is the capital of Fran');
    await page.getByRole('option', {name: 'What is the capital of France'}).click();
    await page.getByText('Paris').first().waitFor();
  });
});
