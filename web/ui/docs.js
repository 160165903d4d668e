// Shows openapi.json as a page to read.

import {h, replace} from './dom.js';

function resolve(schema, api) {
  if (!schema?.$ref) return schema ?? {};
  return schema.$ref.slice(2).split('/').reduce((at, key) => at?.[key], api) ?? {};
}

function typeOf(schema, api) {
  const found = resolve(schema, api);
  if (found.enum) return found.enum.map(value => JSON.stringify(value)).join(' | ');
  if (found.type === 'array') return `array of ${typeOf(found.items, api)}`;
  const range = found.minimum !== undefined ? ` ${found.minimum}–${found.maximum}` : '';
  return `${[found.type ?? 'any'].flat().join(' | ')}${range}`;
}

function fieldsView(schema, api) {
  const found = resolve(schema, api);
  if (!found.properties) return h('p', {class: 'what'}, found.description ?? typeOf(found, api));
  return h('dl', {}, Object.entries(found.properties).map(([name, field]) => [
    h('dt', {}, name, found.required?.includes(name) ? null : h('span', {class: 'type'}, ' ?')),
    h('dd', {}, h('span', {class: 'type'}, typeOf(field, api)), ' ', resolve(field, api).description ?? ''),
  ]));
}

function operationView(path, method, operation, api) {
  const inside = h('div', {class: 'inside'});
  if (operation.description) inside.append(h('p', {}, operation.description));
  if (operation.parameters?.length > 0) {
    inside.append(h('h3', {}, 'Parameters'), h('dl', {}, operation.parameters.map(one => [
      h('dt', {}, one.name, one.required ? null : h('span', {class: 'type'}, ' ?')),
      h('dd', {}, h('span', {class: 'type'}, typeOf(one.schema, api)), ' ', one.description ?? ''),
    ])));
  }
  const body = operation.requestBody?.content?.['application/json'];
  if (body) {
    inside.append(h('h3', {}, 'Body'), fieldsView(body.schema, api));
    if (body.example) inside.append(h('pre', {tabindex: '0'}, JSON.stringify(body.example, null, 2)));
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    const shown = response.$ref ? resolve(response, api) : response;
    inside.append(h('h3', {}, `${status} `, h('span', {class: 'type'}, shown.description)));
    const content = shown.content?.['application/json'];
    if (content) inside.append(fieldsView(content.schema, api));
  }
  return h('details', {class: 'operation'},
    h('summary', {}, h('span', {class: 'method'}, method.toUpperCase()), h('span', {class: 'path'}, path),
      h('span', {class: 'what'}, operation.summary)), inside);
}

const main = document.getElementById('docs');
try {
  const api = await (await fetch('openapi.json')).json();
  replace(main, h('div', {class: 'docs'},
    h('h1', {}, `${api.info.title} API`, ' ', h('span', {class: 'type'}, api.info.version)),
    h('p', {class: 'lead'}, api.info.description),
    Object.entries(api.paths).map(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => operationView(path, method, operation, api)))));
} catch {
  replace(main, h('p', {}, 'openapi.json cannot be read: is the server still running?'));
}
