// What the browser tests share: servers, and pages that note every request and error.

import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {chromium} from 'playwright-core';

export const browserPath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find(path => path && existsSync(path));

export function launch() {
  // A fresh profile is made by launch() itself.
  return chromium.launch({
    executablePath: browserPath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'askbase-browser-'));
  return {folder, remove: () => rmSync(folder, {recursive: true, force: true})};
}

// Starts a program that prints its URL when it is ready.
export function serve(program, args) {
  const child = spawn(program, args, {stdio: ['ignore', 'pipe', 'inherit']});
  let output = '';
  const exited = new Promise(resolve => {
    child.once('exit', resolve);
    child.once('error', resolve);  // it never began
  });
  const ready = new Promise((resolve, reject) => {
    child.stdout.on('data', data => {
      output += data;
      const found = /(http:\/\/\S+)/.exec(output);
      if (found) resolve(found[1]);
    });
    child.once('error', reject);
    exited.then(code => reject(new Error(`${program} ended with ${code} before it was ready: ${output}`)));
    setTimeout(() => reject(new Error(`${program} was not ready in time: ${output}`)), 60000).unref();
  });
  return {
    ready,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export async function run(program, args) {
  const child = spawn(program, args, {stdio: ['ignore', 'ignore', 'inherit']});
  const code = await new Promise(resolve => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
}

// A page in its own context. trouble() throws when something was asked of another host, or a script failed.
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({locale: 'en-US', viewport: {width: 1000, height: 750}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  const requests = [], errors = [];
  page.on('request', request => requests.push(request.url()));
  page.on('pageerror', error => errors.push(`script error: ${error.message}`));
  page.on('console', message => {
    // Policy violations are reported here too. A refused request is a matter of the single test.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  const trouble = base => {
    const foreign = requests.filter(url => !url.startsWith(base) && !url.startsWith('data:'));
    if (foreign.length > 0) throw new Error(`requests elsewhere: ${foreign.join(' ')}`);
    if (errors.length > 0) throw new Error(errors.join('\n'));
  };
  return {page, context, requests, trouble};
}

// True when nothing has to be scrolled sideways.
export const fitsWidth = page =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
