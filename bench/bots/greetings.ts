/** Greetings of people and of answering machines, spoken by synthetic voices, for machine detection. */
import { add, atLevel, NOISES, noise, numbers, RATE, speak } from './audio.ts';

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
  (name) => `Hi, ${name} here.`,
  () => 'Yes, hello, who is this?',
  (name) => `Good evening, you are speaking with ${name}.`,
  (_, firm) => `${firm}, reception.`,
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
  (name) => `Hello. ${name} is not here at the moment. Please call back later, or leave a message.`,
  (_, firm) =>
    `You have called ${firm}. All our lines are busy. Please hold, your call is important to us.`,
  () => 'The number you have dialed is not in service. Please check the number and dial again.',
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
  const manner = { speed: Math.round(150 + 50 * next()), pitch: Math.round(20 + 60 * next()) };
  const level = -16 - 12 * next();
  const said = atLevel(speak('espeak-ng', pick(VOICES), text, manner), level);
  const lead = Math.floor(RATE * (0.2 + 0.8 * next()));
  // 15 to 40 dB below the speech, and at least -62 dBov.
  const floor = Math.max(-62, level - 15 - 25 * next());
  const audio = atLevel(noise(pick(NOISES), lead + said.length + 6 * RATE, index), floor);
  add(audio, said, lead);
  const ms = (samples: number) => (samples * 1000) / RATE;
  return { machine, text, startMs: ms(lead), endMs: ms(lead + said.length), audio };
}
