/**
 * Test phone at `/phone`. The link may contain user and password, or a token, after `#`; that part stays in the browser.
 * The page imports the phone module in the same way as customer pages.
 */
import { Phone } from '/phone.js';
import { CallView, isAnswered } from './call-view.ts';
import type { PhoneAccount, PhoneCall } from './phone-api.d.ts';

const find = <T extends HTMLElement>(id: string): T => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`no element ${id}`);
  return element as T;
};

const username = find<HTMLInputElement>('username');
const password = find<HTMLInputElement>('password');
const target = find<HTMLInputElement>('target');
const waiting = find<HTMLInputElement>('waiting');
const state = find('state');
const notice = find('notice');
const list = find('calls');
const numbers = find('numbers');
const audio = find<HTMLAudioElement>('audio');
let phone: Phone | undefined;

const show = (text: string, phase: string): void => {
  state.textContent = text;
  document.body.dataset['phase'] = phase;
};
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
const fail = (error: unknown): void => {
  notice.textContent = messageOf(error);
};
const refused = (error: unknown): void => show(messageOf(error), 'away');

const views = new Map<PhoneCall, CallView>();

/** Draws the calls. Each call keeps its element, so that focus and typed text are preserved. */
function showCalls(phoneOf: Phone, calls: readonly PhoneCall[]): void {
  for (const [call, view] of views) {
    if (calls.includes(call)) continue;
    view.element.remove();
    views.delete(call);
  }
  const answered = calls.filter(isAnswered).length;
  for (const call of calls) {
    const view = views.get(call) ?? new CallView({ phone: phoneOf, call, fail });
    if (!views.has(call)) list.append(view.element);
    views.set(call, view);
    view.show(answered);
  }
  if (calls.length === 0) numbers.textContent = '';
}

/** Key of the setting in the local storage of the browser. */
const WAITING_KEY = 'call-waiting';

const requested = new URLSearchParams(location.hash.slice(1));
username.value = requested.get('user') ?? '';
password.value = requested.get('password') ?? '';
target.value = requested.get('dial') ?? target.value;
history.replaceState(null, '', location.pathname);

function connect(account: PhoneAccount): void {
  const { domain = '' } = document.body.dataset;
  void phone?.unregister();
  const made = new Phone({ audio, ...(domain === '' ? {} : { domain }) });
  phone = made;
  made.callWaiting = waiting.checked;
  made.on('registered', () => show('Ready for calls', 'ready'));
  made.on('unregistered', () => show('Not registered.', 'away'));
  made.on('disconnected', ({ reason }) =>
    show(`No connection (${reason}). Reconnecting …`, 'away'),
  );
  made.on('calls', ({ calls }) => showCalls(made, calls));
  made.on('incoming', () => {
    notice.textContent = '';
  });
  made.on('ended', ({ reason, call }) => {
    const name = call.displayName || call.from;
    notice.textContent = `${name}: The call has ended. ${reason}`;
  });
  made.on('transfer', ({ status, reason }) => {
    notice.textContent = `Transfer: ${status} ${reason}`;
  });
  made.on('quality', ({ codec, lost, jitterMs, roundTripMs, concealed, mos }) => {
    const way = roundTripMs === undefined ? '' : ` · ${Math.round(roundTripMs)} ms round trip`;
    numbers.textContent = `${codec.replace('audio/', '')} · MOS ${mos.toFixed(1)} · ${lost} lost · ${jitterMs.toFixed(1)} ms jitter · ${(100 * concealed).toFixed(1)} % concealed${way}`;
  });
  show('Registering …', 'away');
  made.login(account).then(() => {
    if (document.body.dataset['phase'] === 'away') show('Ready for outgoing calls', 'ready');
  }, refused);
}

find('account').addEventListener('submit', (event) => {
  event.preventDefault();
  connect({ username: username.value, password: password.value });
});
find('dial').addEventListener('submit', (event) => {
  event.preventDefault();
  notice.textContent = '';
  phone?.call(target.value).catch(fail);
});
waiting.checked = localStorage.getItem(WAITING_KEY) !== 'off';
waiting.addEventListener('change', () => {
  localStorage.setItem(WAITING_KEY, waiting.checked ? 'on' : 'off');
  if (phone !== undefined) phone.callWaiting = waiting.checked;
});

show('Not registered.', 'away');
const token = requested.get('token');
if (token !== null) connect({ token });
else if (username.value !== '' && password.value !== '') {
  connect({ username: username.value, password: password.value });
}
