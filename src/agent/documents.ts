/** Documents that the agent returns to the service. */
import type { AgentFile } from './agent-file.ts';
import type { Model } from './model/model.ts';
import type { Outcome } from './outcome.ts';

const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? '');

const response = (elements: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${elements}</Response>\n`;

/** The stream, and the request for the outcome after it. */
export const answerDocument = (
  { interruption, disclosure }: AgentFile,
  input: Model['input'],
  urls: { readonly stream: string; readonly after: string },
): string => {
  const disclosed = disclosure === undefined ? '' : ` disclosure="${escaped(disclosure)}"`;
  return response(
    `<Stream bidirectional="true" keepCallAlive="true" contentType="${input}" speechEvents="true"` +
      ` bargeIn="${interruption}" playPositions="true" notes="true" transfers="true"${disclosed}>${escaped(urls.stream)}</Stream>` +
      `<Redirect>${escaped(urls.after)}</Redirect>`,
  );
};

/** Calls `to`. The document of `action` ends the call, so that the answer URL is requested only once. */
const dial = (to: string, callerId: string | undefined, action: string): string => {
  const by = callerId === undefined ? '' : ` callerId="${escaped(callerId)}"`;
  const party = /^sips?:/i.test(to)
    ? `<User>${escaped(to)}</User>`
    : `<Number>${escaped(to)}</Number>`;
  return `<Dial${by} action="${escaped(action)}">${party}</Dial>`;
};

/** URLs that get the results of calls to other parties. */
export interface ResultUrls {
  /** After a transfer by the model. */
  readonly transferred: string;
  /** After a call to `fallback.transferTo`. */
  readonly done: string;
}

/** Document for the outcome. */
export function outcomeDocument(
  { fallback, limits }: AgentFile,
  outcome: Outcome,
  urls: ResultUrls,
): string {
  switch (outcome.kind) {
    case 'hangup':
      return DONE;
    case 'limit':
      return response(`${speak(limits.say)}<Hangup/>`);
    case 'transfer':
      return response(`${dial(outcome.to, outcome.callerId, urls.transferred)}<Hangup/>`);
    case 'fallback': {
      const { say, transferTo } = fallback;
      const onward = transferTo === undefined ? '' : dial(transferTo, undefined, urls.done);
      return response(`${speak(say)}${onward}<Hangup/>`);
    }
  }
}

/** Document after a transfer by the model. A caller whose colleague was not reached hears the fallback. */
export const transferredDocument = ({ fallback }: AgentFile, isCompleted: boolean): string =>
  isCompleted ? DONE : response(`${speak(fallback.say)}<Hangup/>`);

export const DONE = response('<Hangup/>');

const speak = (text: string): string => (text === '' ? '' : `<Speak>${escaped(text)}</Speak>`);
