import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { ok } from '../../../src/base/result.ts';
import { findPocketSphinx } from '../../../src/edge/speech/recognition/pocketsphinx.ts';

const DICTIONARY = '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict';
const broken = (): Readable =>
  new Readable({
    read() {
      this.destroy(new Error('EMFILE: too many open files'));
    },
  });

it.skipIf(!existsSync(DICTIONARY))(
  'reads the dictionary again after a failure, instead of refusing the hints forever',
  async () => {
    const dictionaries = [broken(), Readable.from(['yes Y EH S\n'])];
    const engine = await findPocketSphinx(
      () => Promise.resolve(ok(Buffer.from('yes 0.10 0.50 0.900000\n'))),
      () => dictionaries.shift() ?? broken(),
    );
    const request = {
      language: 'en-US',
      model: 'default',
      hints: ['yes'],
      profanityFilter: false,
    } as const;
    const recognized = () => engine?.open(request, undefined).finish();
    expect(await recognized()).toMatchObject({ error: { kind: 'failed' } });
    expect(await recognized()).toMatchObject({ value: { text: 'yes' } });
  },
);
