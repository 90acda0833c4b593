import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type Row, text } from '../api.ts';
import type { BuildProps } from './build-props.ts';
import { TrialCall } from './trial-call.tsx';

const BEGIN = `<Response>
  <GetDigits action="https://example.com/menu" numDigits="1" timeout="10">
    <Speak>Press one for sales.</Speak>
  </GetDigits>
  <Hangup/>
</Response>
`;
const WAIT_MS = 300;

/** XML editor that validates the document with the service's parser while typing. */
export function Playground({ account }: BuildProps) {
  const [xml, setXml] = useState(BEGIN);
  const [found, setFound] = useState<Row>();
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      call('POST', '/console/api/xml/check', { xml }).then(
        (told) => isCurrent && setFound(told),
        () => undefined,
      );
    }, WAIT_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [xml]);
  const show = () => {
    const [line, column] = [Number(found?.['line']), Number(found?.['column'])];
    const before = xml
      .split('\n')
      .slice(0, line - 1)
      .join('\n');
    const at = (line > 1 ? before.length + 1 : 0) + column - 1;
    area.current?.focus();
    area.current?.setSelectionRange(at, at + 1);
  };
  const isFine = found?.['ok'] === true;
  const verbs = Array.isArray(found?.['instructions']) ? found['instructions'].map(text) : [];
  return (
    <>
      <label for="xml">Document</label>
      <textarea
        id="xml"
        class="xml"
        spellcheck={false}
        ref={area}
        value={xml}
        aria-describedby="verdict"
        {...(found && { 'aria-invalid': !isFine })}
        onInput={({ currentTarget }) => setXml(currentTarget.value)}
      />
      <p id="verdict" role="status">
        {found === undefined && 'Checking …'}
        {isFine && `The document is valid: ${verbs.join(', ') || 'no elements'}.`}
        {found !== undefined && !isFine && (
          <>
            <span class="bad">
              Line {text(found['line'])}, column {text(found['column'])}: {text(found['message'])}.
            </span>{' '}
            Expected: {text(found['expected'])}.{' '}
            <button type="button" class="small" onClick={show}>
              Show
            </button>
          </>
        )}
      </p>
      <TrialCall account={account} xml={xml} isFine={isFine} />
    </>
  );
}
