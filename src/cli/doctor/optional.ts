/** Checks of optional programs, packages and keys. Findings name the missing part, the feature that needs it and its installation. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { SYSTEM_PATH } from '../../edge/speech/process.ts';
import { type Finding, good, problem, skipped } from './finding.ts';

/** Access to the machine; replaced in tests. */
export interface Installed {
  hasProgram(name: string): boolean;
  hasPackage(name: string): boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `path` has the folders of programs; default: those in which the service looks for them. */
export const installedHere = (env: Installed['env'], path = SYSTEM_PATH): Installed => ({
  env,
  hasProgram: (name) =>
    path.split(delimiter).some((folder) => {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  hasPackage(name) {
    try {
      import.meta.resolve(name);
      return true;
    } catch {
      return false;
    }
  },
});

type Chosen = Pick<Settings, 'speech' | 'recognition'>;

export const checkOptional = (settings: Chosen, installed: Installed): readonly Finding[] => [
  checkSpeech(settings, installed),
  checkRecognition(settings, installed),
  checkModelKeys(installed),
  installed.hasPackage('@modelcontextprotocol/sdk/server/index.js')
    ? good('mcp', 'the MCP SDK is installed')
    : skipped(
        'mcp',
        'the MCP SDK is not installed: carillon mcp does not run',
        'To use it: npm install --no-save @modelcontextprotocol/sdk@1',
      ),
];

/** Local synthesizers. espeak-ng also speaks the callers of rehearsals. */
function checkSpeech({ speech }: Chosen, { hasProgram }: Installed): Finding {
  const check = 'speech';
  const names = ['flite', 'espeak-ng'];
  const missing = names.filter((name) => !hasProgram(name));
  const effects = missing.map((name) => SPEECH_EFFECTS[name]).join('; ');
  const all = missing.length === names.length && speech.url === '';
  const found = `${missing.join(' and ')} not installed: ${all ? NO_SPEECH : effects}`;
  const advice = `sudo apt-get install ${missing.join(' ')}`;
  if (missing.includes(speech.engine))
    return problem(check, `${found}; speech.engine is ${speech.engine}`, advice);
  if (missing.length === 0) return good(check, 'flite and espeak-ng are installed');
  return skipped(check, found, `To use it: ${advice}`);
}

const NO_SPEECH = 'Speak is skipped, fallbacks of agents are silent, rehearsals need WAV files';
const SPEECH_EFFECTS: Readonly<Record<string, string>> = {
  flite: 'English is spoken by espeak-ng, which sounds worse',
  'espeak-ng': 'Speak knows only English, rehearsals need WAV files',
};

function checkRecognition({ recognition }: Chosen, { hasProgram }: Installed): Finding {
  const check = 'recognition';
  const { engine, httpUrl, webSocketUrl } = recognition;
  if (engine === 'none') return skipped(check, 'off: recognition.engine is none');
  if (engine !== 'pocketsphinx') {
    if (engine !== 'http' && webSocketUrl !== '')
      return good(check, 'by the server of recognition.webSocketUrl');
    if (engine !== 'websocket' && httpUrl !== '')
      return good(check, 'by the server of recognition.httpUrl');
  }
  if (hasProgram('pocketsphinx_continuous'))
    return good(check, 'pocketsphinx, for English phrases');
  const found =
    'pocketsphinx is not installed and no server is set: Gather and GetInput hear only keys, recordings have no transcription';
  const advice =
    'sudo apt-get install pocketsphinx pocketsphinx-en-us, or set recognition.httpUrl or recognition.webSocketUrl';
  return engine === 'pocketsphinx'
    ? problem(check, found, advice)
    : skipped(check, found, `To use it: ${advice}`);
}

const MODEL_KEYS = ['OPENAI_API_KEY', 'GEMINI_API_KEY', 'DEEPGRAM_API_KEY'];

function checkModelKeys({ env }: Installed): Finding {
  const check = 'model keys';
  const missing = MODEL_KEYS.filter((name) => (env[name] ?? '') === '');
  const present = MODEL_KEYS.filter((name) => !missing.includes(name));
  if (present.length > 0) return good(check, `${present.join(', ')} set`);
  return skipped(
    check,
    `${missing.join(', ')} not set: agents can use only models on your own servers`,
    'To use a vendor, set its variable in the environment of the service, for example in /etc/carillon/environment',
  );
}
