/** One call on the phone page: its name, state and controls. */
import type { CallState, Phone, PhoneCall } from './phone-api.d.ts';

const STATES: Readonly<Record<CallState, string>> = {
  incoming: 'Incoming call.',
  calling: 'Calling …',
  ringing: 'Ringing …',
  connecting: 'Connecting the audio …',
  active: 'In a call.',
  reconnecting: 'The connection was lost. Reconnecting …',
  held: 'On hold.',
  ended: 'The call has ended.',
};
/** States in which the other side has answered. */
const ANSWERED: ReadonlySet<CallState> = new Set(['connecting', 'active', 'reconnecting', 'held']);
const KEYS = '123456789*0#';

export interface CallViewNeeds {
  readonly phone: Pick<Phone, 'completeTransfer'>;
  readonly call: PhoneCall;
  fail(error: unknown): void;
}

type Control = readonly [element: HTMLElement, isShown: (state: CallState) => boolean];

export class CallView {
  readonly element = document.createElement('li');
  readonly #needs: CallViewNeeds;
  readonly #name = document.createElement('strong');
  readonly #state = document.createElement('p');
  readonly #mute: HTMLButtonElement;
  readonly #connect: HTMLButtonElement;
  readonly #controls: readonly Control[];

  constructor(needs: CallViewNeeds) {
    this.#needs = needs;
    const { call, phone } = needs;
    this.#state.setAttribute('role', 'status');
    this.#mute = this.#button('Mute', () => call.mute(!call.muted));
    this.#connect = this.#button('Connect both calls', () => phone.completeTransfer());
    const isActive = (state: CallState): boolean => state === 'active' || state === 'reconnecting';
    const buttons: readonly Control[] = [
      [this.#button('Answer', () => call.answer(), 'go'), (state) => state === 'incoming'],
      [this.#button('Decline', () => call.decline(), 'stop'), (state) => state === 'incoming'],
      [this.#button('Hang up', () => call.hangup(), 'stop'), (state) => state !== 'incoming'],
      [this.#mute, (state) => state === 'connecting' || isActive(state)],
      [this.#button('Hold', () => call.hold()), isActive],
      [this.#button('Resume', () => call.resume()), (state) => state === 'held'],
    ];
    const row = document.createElement('div');
    row.className = 'row';
    row.append(...buttons.map(([button]) => button), this.#connect);
    const [keys, transfer] = [this.#keypad(), this.#transferForm()];
    this.#controls = [...buttons, [keys, isActive], [transfer, (state) => ANSWERED.has(state)]];
    this.element.append(this.#name, this.#state, row, keys, transfer);
  }

  /** `answered`: calls that the other side has answered, this one included. */
  show(answered: number): void {
    const { call } = this.#needs;
    this.#name.textContent = call.displayName || call.from;
    // A status that does not change is not read out again.
    if (this.#state.textContent !== STATES[call.state]) {
      this.#state.textContent = STATES[call.state];
    }
    this.#mute.textContent = call.muted ? 'Unmute' : 'Mute';
    for (const [element, isShown] of this.#controls) element.hidden = !isShown(call.state);
    this.#connect.hidden = answered !== 2 || call.state !== 'active';
  }

  #button(text: string, action: () => unknown, className = ''): HTMLButtonElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.className = className;
    button.addEventListener('click', () => {
      void Promise.resolve().then(action).catch(this.#needs.fail);
    });
    return button;
  }

  #keypad(): HTMLElement {
    const keys = document.createElement('div');
    keys.className = 'keys';
    keys.setAttribute('role', 'group');
    keys.setAttribute('aria-label', 'Keypad');
    keys.append(...[...KEYS].map((key) => this.#button(key, () => this.#needs.call.sendDtmf(key))));
    return keys;
  }

  #transferForm(): HTMLElement {
    const form = document.createElement('form');
    const label = document.createElement('label');
    const input = document.createElement('input');
    const button = document.createElement('button');
    label.textContent = 'Transfer to ';
    input.required = true;
    button.textContent = 'Transfer';
    label.append(input);
    form.append(label, button);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#needs.call.transfer(input.value).catch(this.#needs.fail);
    });
    return form;
  }
}

export const isAnswered = ({ state }: PhoneCall): boolean => ANSWERED.has(state);
