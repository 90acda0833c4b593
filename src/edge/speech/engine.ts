import type { SpeechRequest } from '../../domain/call/needs.ts';
import type { RunProcess } from './process.ts';
import { flattenSsml, safeSsml } from './ssml.ts';
import { chunksOf } from './text-chunks.ts';
import {
  espeakLanguage,
  fliteVoice,
  genderOf,
  parseEspeakVoices,
  parseFliteVoices,
} from './voices.ts';

/** One run of an engine, or a pause. */
export type SpeechStep =
  | { readonly kind: 'silence'; readonly ms: number }
  | {
      readonly kind: 'run';
      readonly command: string;
      /** Command-line arguments without the output file. */
      readonly args: readonly string[];
      readonly outputFlag: string;
      readonly input: string;
    };

export interface SpeechEngine {
  readonly name: 'flite' | 'espeak-ng';
  /** Returns the steps that synthesize the request, or undefined if the engine lacks a voice for the language. */
  plan(request: SpeechRequest): readonly SpeechStep[] | undefined;
}

/** Returns undefined if flite is not installed. */
export async function findFlite(run: RunProcess): Promise<SpeechEngine | undefined> {
  const listing = await run('flite', ['-lv'], '');
  if (!listing.ok) return undefined;
  const voices = parseFliteVoices(new TextDecoder().decode(listing.value));
  return {
    name: 'flite',
    plan: ({ text, ssml, voice, language }) => {
      const name = fliteVoice(genderOf(voice), language, voices);
      if (name === undefined) return undefined;
      const parts = ssml === undefined ? [{ kind: 'text' as const, text }] : flattenSsml(ssml);
      return parts.flatMap((part): SpeechStep[] =>
        part.kind === 'silence'
          ? [part]
          : chunksOf(part.text, language).map((input) => ({
              kind: 'run',
              command: 'flite',
              args: ['-voice', name, '-f', '-'],
              outputFlag: '-o',
              input,
            })),
      );
    },
  };
}

/** Returns undefined if espeak-ng is not installed. */
export async function findEspeak(run: RunProcess): Promise<SpeechEngine | undefined> {
  const listing = await run('espeak-ng', ['--voices'], '');
  if (!listing.ok) return undefined;
  const languages = parseEspeakVoices(new TextDecoder().decode(listing.value));
  return {
    name: 'espeak-ng',
    plan: ({ text, ssml, voice, language }) => {
      const name = espeakLanguage(language, languages);
      if (name === undefined) return undefined;
      const variant = genderOf(voice) === 'female' ? `${name}+f3` : name;
      const step = (input: string, markup: readonly string[]): SpeechStep => ({
        kind: 'run',
        command: 'espeak-ng',
        // -b 1: the input is UTF-8. -m: the input is SSML.
        args: ['-v', variant, '-b', '1', ...markup, '--stdin'],
        outputFlag: '-w',
        input,
      });
      if (ssml !== undefined) return [step(safeSsml(ssml), ['-m'])];
      return chunksOf(text, language).map((input) => step(input, []));
    },
  };
}
