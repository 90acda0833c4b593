/** Highlighted code with a button that copies it. */
import { highlightText } from 'prism-code-editor/prism';
import 'prism-code-editor/prism/languages/bash';
import 'prism-code-editor/prism/languages/json';
import 'prism-code-editor/prism/languages/python';
import 'prism-code-editor/prism/languages/typescript';
import 'prism-code-editor/prism/languages/xml';
import { Check, Copy } from 'lucide';
import { useMemo } from 'preact/hooks';
import { t } from '../text.ts';
import { useCopy } from './copy.ts';
import { Icon } from './icon.tsx';

export type Language = 'bash' | 'json' | 'python' | 'typescript' | 'xml' | 'text';

interface Props {
  readonly code: string;
  readonly language: Language;
  readonly name: string;
}

export function Code({ code, language, name }: Props) {
  const { isDone, copy } = useCopy(code);
  // The highlighter escapes the code.
  const html = useMemo(
    () => (language === 'text' ? undefined : highlightText(code, language)),
    [code, language],
  );
  return (
    <div class="code-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
      <section class="code" aria-label={name} tabIndex={0}>
        {html === undefined ? (
          <pre>{code}</pre>
        ) : (
          <pre dangerouslySetInnerHTML={{ __html: html }} />
        )}
      </section>
      <button
        type="button"
        class="btn tiny"
        aria-label={t('Copy {value}', { value: name })}
        onClick={copy}
      >
        <Icon of={isDone ? Check : Copy} size={13} />
        {isDone ? t('Copied') : t('Copy')}
      </button>
    </div>
  );
}
