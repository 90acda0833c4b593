/** The test phone at `/phone`. A link may bring user and password behind its `#`, which never leaves the browser. */
import { Phone } from './phone.ts';

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
const fail = (error: unknown): void =>
  show(error instanceof Error ? error.message : String(error), 'ready');

const asked = new URLSearchParams(location.hash.slice(1));
username.value = asked.get('user') ?? '';
password.value = asked.get('password') ?? '';
target.value = asked.get('dial') ?? target.value;
history.replaceState(null, '', location.pathname);

function connect(): void {
  const { domain = '' } = document.body.dataset;
  phone = new Phone({
    username: username.value,
    password: password.value,
    audio,
    ...(domain === '' ? {} : { domain }),
  });
  phone.on('registered', () => show('Registered. Ready to call and to be called.', 'ready'));
  phone.on('unregistered', () => show('Not registered.', 'away'));
  phone.on('disconnected', ({ reason }) =>
    show(`No connection (${reason}); trying again.`, 'away'),
  );
  phone.on('incoming', ({ from, displayName }) => show(`${displayName || from} calls.`, 'rings'));
  phone.on('ringing', () => show('Ringing …', 'calls'));
  phone.on('answered', () => show('In a call.', 'talks'));
  phone.on('ended', ({ reason }) => show(reason === '' ? 'The call is over.' : reason, 'ready'));
  phone.on('quality', ({ codec, lost, jitterMs, roundTripMs, concealed }) => {
    const way = roundTripMs === undefined ? '' : ` · ${Math.round(roundTripMs)} ms there and back`;
    numbers.textContent = `${codec.replace('audio/', '')} · ${lost} lost · ${jitterMs.toFixed(1)} ms jitter · ${(100 * concealed).toFixed(1)} % made up${way}`;
  });
  show('Registering …', 'away');
  phone.register().catch(fail);
}

const act = (id: string, action: () => unknown): void =>
  find(id).addEventListener('click', () => {
    void Promise.resolve().then(action).catch(fail);
  });

find('account').addEventListener('submit', (event) => {
  event.preventDefault();
  connect();
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
for (const key of '123456789*0#') {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = key;
  button.addEventListener('click', () => phone?.sendDtmf(key));
  find('keys').append(button);
}

show('Not registered.', 'away');
if (username.value !== '' && password.value !== '') connect();
