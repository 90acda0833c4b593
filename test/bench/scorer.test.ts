import { describe, expect, it } from 'vitest';
import { score } from '../../bench/speech-quality/scorer.ts';

const sound = { rate: 8000, samples: Int16Array.from([1, 2, 3]) };

describe('the scorer of npm run bench -- speech-quality', () => {
  it('gets two WAV files at the same rate, and its last number is the score', async () => {
    const command = `${process.execPath} -e "for (const file of process.argv.slice(1)) { const wav = require('node:fs').readFileSync(file); console.log(wav.readUInt32LE(24), (wav.length - 44) / 2); } console.log('MOS -1.25 of it')"`;
    expect(await score(command, sound, sound)).toBe(-1.25);
    const lengths = `${process.execPath} -p "process.argv.slice(1).map((file) => (require('node:fs').readFileSync(file).length - 44) / 2).join('')"`;
    expect(await score(lengths, sound, { ...sound, samples: new Int16Array(5) })).toBe(35);
  });

  it('reports a scorer that fails, prints no number or takes too long', async () => {
    await expect(score('sh -c "echo no licence >&2; exit 3"', sound, sound)).rejects.toThrow(
      'failed: no licence',
    );
    await expect(score('sh -c "echo fine"', sound, sound)).rejects.toThrow('printed no number');
    await expect(score('no-such-program', sound, sound)).rejects.toThrow(
      /no-such-program failed: .*not found/,
    );
    await expect(score('sh -c "sleep 20"', sound, sound, 200)).rejects.toThrow(
      'took more than 200 ms',
    );
  });
});
