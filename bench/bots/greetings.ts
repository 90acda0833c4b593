/** Greetings of people and of answering machines, spoken by synthetic voices, for machine detection. */
import { add, atLevel, noise, numbers, RATE, speak } from './audio.ts';

const NAMES = ['Anna', 'Miller', 'Tom', 'Maria Lopez', 'David', 'Sarah Chen', 'Peter', 'Rajesh'];
const FIRMS = [
  'Acme Dental',
  'City Motors',
  'Green Valley Clinic',
  'Baker and Sons',
  'Sunrise Hotel',
  'Main Street Pharmacy',
];
const VOICES = [
  'en-us',
  'en-gb+f3',
  'en-us+m4',
  'en-gb-scotland',
  'en-us+f2',
  'en-gb+m2',
  'en-us+f4',
  'en-gb',
];
const PEOPLE: readonly ((name: string, firm: string) => string)[] = [
  () => 'Hello?',
  (name) => `Hello, this is ${name}.`,
  () => 'Yes?',
  (name) => `${name} speaking.`,
  (_, firm) => `${firm}.`,
  (_, firm) => `${firm}, good morning.`,
  (name, firm) => `${firm}, ${name} speaking.`,
  (_, firm) => `Good afternoon, ${firm}.`,
  () => 'Good morning, how can I help you?',
  (_, firm) => `${firm}, how can I help you?`,
  (name, firm) => `Good morning, ${firm}, this is ${name}.`,
  (name, firm) => `Thank you for calling ${firm}, this is ${name}.`,
];
const MACHINES: readonly ((name: string, firm: string) => string)[] = [
  (name) =>
    `Hi, you have reached ${name}. I can't take your call right now. Please leave a message after the tone.`,
  () => 'The person you are calling is not available. Please leave a message after the beep.',
  (_, firm) =>
    `Thank you for calling ${firm}. Our office is closed. Our opening hours are Monday to Friday from nine to five.`,
  (name) =>
    `This is the voicemail of ${name}. Leave your name and number, and I will call you back.`,
  (_, firm) =>
    `Welcome to ${firm}. For sales, press one. For service, press two. To hear this menu again, press the star key.`,
  () =>
    'Your call has been forwarded to an automatic voice message system. At the tone, please record your message.',
];

export interface Greeting {
  readonly machine: boolean;
  readonly text: string;
  /** Time at which speech begins and ends, in ms. */
  readonly startMs: number;
  readonly endMs: number;
  /** Audio from the answer on, with silence behind the greeting. */
  readonly audio: Float32Array;
}

/** Returns the greeting with this number; half of them are machines. */
export function greeting(index: number): Greeting {
  const next = numbers(1000 + index);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const machine = index % 2 === 1;
  const text = pick(machine ? MACHINES : PEOPLE)(pick(NAMES), pick(FIRMS));
  const said = atLevel(speak('espeak-ng', pick(VOICES), text), -16 - 12 * next());
  const lead = Math.floor(RATE * (0.2 + 0.8 * next()));
  const audio = atLevel(noise('white', lead + said.length + 6 * RATE, index), -62 + 12 * next());
  add(audio, said, lead);
  const ms = (samples: number) => (samples * 1000) / RATE;
  return { machine, text, startMs: ms(lead), endMs: ms(lead + said.length), audio };
}
