// Requests to the server. URLs are relative, so that the page works behind any path.

export class Failure extends Error {
  // kind: "unreachable", "timeout", "refused" (the server said why, in detail), "aborted"
  constructor(kind, detail = '') {
    super(detail || kind);
    this.kind = kind;
    this.detail = detail;
  }
}

const patience = 20000;

async function request(path, options = {}) {
  const timeout = AbortSignal.timeout(patience);
  const signal = options.signal ? anySignal([options.signal, timeout]) : timeout;
  let response;
  try {
    response = await fetch(path, {...options, signal, headers: {Accept: 'application/json', ...options.headers}});
    const body = await response.json();
    if (response.ok) return body;
    throw new Failure('refused', typeof body.detail === 'string' ? body.detail : response.statusText);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (options.signal?.aborted) throw new Failure('aborted');
    if (timeout.aborted) throw new Failure('timeout');
    if (response && !response.ok) throw new Failure('refused', `${response.status} ${response.statusText}`);
    throw new Failure('unreachable');
  }
}

// AbortSignal.any() is not in every browser yet.
function anySignal(signals) {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort();
    signal.addEventListener('abort', () => controller.abort(), {once: true});
  }
  return controller.signal;
}

function query(parameters) {
  const present = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(present).toString();
}

export function ask(question, pins, signal) {
  const body = {question, timeout_ms: 10000};
  if (Object.keys(pins).length > 0) body.pins = pins;
  return request('api/v1/ask', {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body), signal,
  });
}

export const suggest = (q, lang, signal) => request(`api/v1/suggest?${query({q, lang})}`, {signal});
export const search = (q, lang, signal) => request(`api/v1/entities?${query({q, lang, limit: 5})}`, {signal});
export const entity = (id, lang, options, signal) =>
  request(`api/v1/entities/${encodeURIComponent(id)}?${query({lang, ...options})}`, {signal});
export const readiness = () => request('readyz');
