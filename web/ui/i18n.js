// The words of the interface in both languages.

const words = {
  en: {
    title: 'askbase',
    headline: 'Ask what you know.',
    introduction: 'Ask in English or Chinese. Every answer shows the facts or the sentences that it rests on.',
    empty_kb: 'The knowledge base holds no facts yet. Load some with “askbase load FILE”, or documents with “askbase load --documents FILE”.',
    examples: 'For example',
    question_label: 'Your question',
    placeholder: 'Ask a question',
    ask: 'Ask',
    clear: 'Clear',
    loading: 'Looking for an answer…',
    api_docs: 'API',
    facts_loaded: n => (n === '1' ? '1 fact' : `${n} facts`),
    documents_loaded: n => (n === '1' ? '1 document' : `${n} documents`),
    answered_in: ms => `answered in ${ms} ms`,
    confidence: 'Confidence',
    certain: 'Very confident',
    likely: 'Confident',
    unsure: 'Not sure',
    guess: 'A guess',
    because: 'Because',
    found_in: 'Found in',
    page: n => `page ${n}`,
    more_places: n => `and ${n} more places`,
    source: 'Source',
    row: n => `row ${n}`,
    more_evidence: n => `and ${n} more facts`,
    members: n => `${n} in all`,
    show_all: n => `Show all ${n}`,
    show_fewer: 'Show fewer',
    others: 'Other answers',
    no_answer: 'No answer',
    nearest: 'Close to your question',
    which: mention => `Which “${mention}”?`,
    other_reading: mention => `“${mention}” may also be`,
    facts_of: n => (n >= 64 ? '64+ facts' : n === 1 ? '1 fact' : `${n} facts`),
    pinned: mention => `“${mention}” is taken as`,
    unpin: 'Undo',
    unreachable: 'The server cannot be reached. Is it still running?',
    timeout: 'The server did not answer in time.',
    retry: 'Try again',
    not_found: 'The knowledge base has nothing under this address.',
    also_called: 'Also called',
    facts_about: 'What is known',
    mentioned_in: 'Where it is mentioned',
    more: n => `Show more (${n} left)`,
    at_least: n => `${n} and more`,
    open_entity: name => `What is known about ${name}`,
    kind_entity: 'entity',
    suggestions_count: n => (n === 1 ? '1 suggestion' : `${n} suggestions`),
    answer_is: text => `Answer: ${text}`,
    yes_no: 'Yes or no',
  },
  zh: {
    title: 'askbase 问答',
    headline: '问你所知。',
    introduction: '可用中文或英文提问。每个答案都列出它所依据的事实或原文。',
    empty_kb: '知识库里还没有事实。请用 “askbase load 文件” 载入，或用 “askbase load --documents 文件” 载入文档。',
    examples: '例如',
    question_label: '你的问题',
    placeholder: '请输入问题',
    ask: '提问',
    clear: '清除',
    loading: '正在寻找答案…',
    api_docs: '接口文档',
    facts_loaded: n => `${n} 条事实`,
    documents_loaded: n => `${n} 篇文档`,
    answered_in: ms => `用时 ${ms} 毫秒`,
    confidence: '可信度',
    certain: '非常有把握',
    likely: '有把握',
    unsure: '不太确定',
    guess: '仅为猜测',
    because: '依据',
    found_in: '出处',
    page: n => `第 ${n} 页`,
    more_places: n => `另有 ${n} 处`,
    source: '来源',
    row: n => `第 ${n} 行`,
    more_evidence: n => `另有 ${n} 条事实`,
    members: n => `共 ${n} 项`,
    show_all: n => `显示全部 ${n} 项`,
    show_fewer: '收起',
    others: '其他答案',
    no_answer: '没有答案',
    nearest: '与问题相近的内容',
    which: mention => `哪一个“${mention}”？`,
    other_reading: mention => `“${mention}”也可能是`,
    facts_of: n => (n >= 64 ? '64 条以上事实' : `${n} 条事实`),
    pinned: mention => `“${mention}”指的是`,
    unpin: '撤销',
    unreachable: '无法连接服务器。它还在运行吗？',
    timeout: '服务器没有及时回应。',
    retry: '重试',
    not_found: '知识库中没有这个条目。',
    also_called: '又称',
    facts_about: '已知事实',
    mentioned_in: '被提及之处',
    more: n => `显示更多（还有 ${n} 条）`,
    at_least: n => `${n} 以上`,
    open_entity: name => `查看 ${name} 的已知事实`,
    kind_entity: '条目',
    suggestions_count: n => `${n} 条建议`,
    answer_is: text => `答案：${text}`,
    yes_no: '是或否',
  },
};

let current = 'en';

function stored() {
  try {
    return localStorage.getItem('askbase-ui');
  } catch {
    return null;  // storage may be switched off
  }
}

export function startLanguage() {
  const wanted = stored() ?? (navigator.language || 'en');
  current = wanted.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export function setLanguage(language) {
  current = language;
  try {
    localStorage.setItem('askbase-ui', language);
  } catch {
    // Remembered for this visit only.
  }
}

export const language = () => current;

export function t(key, ...parameters) {
  const value = words[current][key];
  return typeof value === 'function' ? value(...parameters) : value;
}

export const number = value => new Intl.NumberFormat(current).format(value);
