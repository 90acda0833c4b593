/**
 * The test phone at `/phone`. A link may bring user and password, or a token, behind its `#`, which never leaves the
 * browser. It imports the phone as pages of customers do.
 */
import { Phone } from '/phone.js';
import type { PhoneAccount } from './phone-api.d.ts';

const find = <T extends HTMLElement>(id: string): T => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`no element ${id}`);
  return element as T;
};

const username = find<HTMLInputElement>('username');
const password = find<HTMLInputElement>('password');
const target = find<HTMLInputElement>('target');
const state = find('state');
const numbers = find('numbers');
const audio = find<HTMLAudioElement>('audio');
let phone: Phone | undefined;

const show = (text: string, phase: string): void => {
  state.textContent = text;
  document.body.dataset['phase'] = phase;
};
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
const fail = (error: unknown): void => show(messageOf(error), 'ready');
const refused = (error: unknown): void => show(messageOf(error), 'away');

const asked = new URLSearchParams(location.hash.slice(1));
username.value = asked.get('user') ?? '';
password.value = asked.get('password') ?? '';
target.value = asked.get('dial') ?? target.value;
history.replaceState(null, '', location.pathname);

function connect(account: PhoneAccount): void {
  const { domain = '' } = document.body.dataset;
  const made = new Phone({ audio, ...(domain === '' ? {} : { domain }) });
  phone = made;
  made.on('registered', () => show('Registered. Ready to call and to be called.', 'ready'));
  made.on('unregistered', () => show('Not registered.', 'away'));
  made.on('disconnected', ({ reason }) => show(`No connection (${reason}); trying again.`, 'away'));
  made.on('incoming', ({ from, displayName }) => show(`${displayName || from} calls.`, 'rings'));
  made.on('ringing', () => show('Ringing …', 'calls'));
  made.on('answered', () => show('In a call.', 'talks'));
  made.on('ended', ({ reason }) => show(reason === '' ? 'The call is over.' : reason, 'ready'));
  made.on('recovering', () => show('No sound; looking for another way …', 'talks'));
  made.on('recovered', () => show('In a call.', 'talks'));
  made.on('transfer', ({ status, reason }) => show(`Transfer: ${status} ${reason}`, 'talks'));
  made.on('quality', ({ codec, lost, jitterMs, roundTripMs, concealed, mos }) => {
    const way = roundTripMs === undefined ? '' : ` · ${Math.round(roundTripMs)} ms there and back`;
    numbers.textContent = `${codec.replace('audio/', '')} · MOS ${mos.toFixed(1)} · ${lost} lost · ${jitterMs.toFixed(1)} ms jitter · ${(100 * concealed).toFixed(1)} % made up${way}`;
  });
  show('Registering …', 'away');
  made.login(account).then(() => {
    if (document.body.dataset['phase'] === 'away') show('Ready to call.', 'ready');
  }, refused);
}

const act = (id: string, action: () => unknown): void =>
  find(id).addEventListener('click', () => {
    void Promise.resolve().then(action).catch(fail);
  });

find('account').addEventListener('submit', (event) => {
  event.preventDefault();
  connect({ username: username.value, password: password.value });
});
find('dial').addEventListener('submit', (event) => {
  event.preventDefault();
  show('Calling …', 'calls');
  phone?.call(target.value).catch(fail);
});
act('answer', () => phone?.answer());
act('hangup', () => phone?.hangup());
let muted = false;
act('mute', () => {
  muted = !muted;
  phone?.mute(muted);
  find('mute').textContent = muted ? 'Speak again' : 'Mute';
});
let held = false;
act('hold', async () => {
  held = !held;
  await phone?.hold(held);
  find('hold').textContent = held ? 'Go on' : 'Hold';
});
find('transfer').addEventListener('submit', (event) => {
  event.preventDefault();
  phone?.transfer(find<HTMLInputElement>('to').value).catch(fail);
});
for (const key of '123456789*0#') {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = key;
  button.addEventListener('click', () => phone?.sendDtmf(key));
  find('keys').append(button);
}

show('Not registered.', 'away');
const token = asked.get('token');
if (token !== null) connect({ token });
else if (username.value !== '' && password.value !== '') {
  connect({ username: username.value, password: password.value });
}
