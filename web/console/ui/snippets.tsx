/** The request of a form as code: curl, TypeScript and Python. */
import { useState } from 'preact/hooks';
import { t } from '../text.ts';
import { Code, type Language } from './code.tsx';

export interface RequestExample {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

const LANGUAGES = [
  ['bash', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
] as const satisfies ReadonlyArray<readonly [Language, string]>;

const authOf = (path: string): string => /[MS]A_[A-Z0-9]+/.exec(path)?.[0] ?? 'MA_…';

/** Header fields of the credentials. `$` marks the name of an environment variable. */
const headersOf = (path: string): ReadonlyArray<readonly [name: string, value: string]> =>
  path.startsWith('/admin/')
    ? [['Authorization', 'Bearer $ADMIN_TOKEN']]
    : [
        ['X-Auth-ID', authOf(path)],
        ['X-Auth-Token', '$AUTH_TOKEN'],
      ];

/** Writes a value as an expression of a language: a text, or one with the value of an environment variable. */
const written = (value: string, variable: (name: string) => string, quote: string): string => {
  const [text = '', name] = value.split('$');
  if (name === undefined) return `${quote}${text}${quote}`;
  return text === '' ? variable(name) : `${quote}${text}${quote} + ${variable(name)}`;
};

function codeOf(language: Language, { method, path, body }: RequestExample): string {
  const url = `${location.origin}${path}`;
  const json = body === undefined ? '' : JSON.stringify(body, null, 2);
  const headers = headersOf(path);
  if (language === 'bash') {
    const data =
      json === ''
        ? ''
        : ` \\\n  -H 'content-type: application/json' \\\n  -d '${json.replaceAll("'", "'\\''")}'`;
    const given = headers.map(([name, value]) => `-H "${name}: ${value}"`).join(' ');
    return `curl -X ${method} '${url}' \\\n  ${given}${data}`;
  }
  if (language === 'typescript') {
    const data = json === '' ? '' : `\n  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),`;
    const type = json === '' ? '' : `\n    'content-type': 'application/json',`;
    const given = headers
      .map(
        ([name, value]) =>
          `\n    '${name}': ${written(value, (one) => `process.env.${one}!`, "'")},`,
      )
      .join('');
    return `const reply = await fetch('${url}', {\n  method: '${method}',\n  headers: {${given}${type}\n  },${data}\n});\nconsole.log(await reply.json());`;
  }
  const data =
    json === ''
      ? ''
      : `\n    json=${json.replaceAll('\n', '\n    ').replaceAll(': true', ': True').replaceAll(': false', ': False').replaceAll(': null', ': None')},`;
  const given = headers
    .map(([name, value]) => `"${name}": ${written(value, (one) => `os.environ["${one}"]`, '"')}`)
    .join(', ');
  return `import os, requests\n\nreply = requests.request(\n    "${method}", "${url}",\n    headers={${given}},${data}\n)\nprint(reply.json())`;
}

export function Snippets({ request }: { readonly request: RequestExample }) {
  const [language, setLanguage] = useState<Language>('bash');
  return (
    <details>
      <summary class="small">{t('Show this request as code')}</summary>
      <div class="stack tight">
        <div class="chips">
          {LANGUAGES.map(([one, shown]) => (
            <button
              key={one}
              type="button"
              class="chip"
              aria-pressed={one === language}
              onClick={() => setLanguage(one)}
            >
              {shown}
            </button>
          ))}
        </div>
        <Code code={codeOf(language, request)} language={language} name={t('Request')} />
      </div>
    </details>
  );
}
