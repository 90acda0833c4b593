import { useState } from 'preact/hooks';
import { call, type Row, rows, text } from '../api.ts';
import { sentence } from '../format.ts';
import { useAction, useFields } from '../hooks.ts';
import { t } from '../text.ts';
import { Input, onSubmit, Select } from '../ui/form.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { Badge, Facts, Problem } from '../ui/parts.tsx';

/** Fields of the test, the test itself, and its report. */
function useStreamTest(account: string) {
  const [report, setReport] = useState<Row>();
  const { fields, set } = useFields({
    url: '',
    content_type: 'audio/x-l16;rate=8000',
    seconds: '10',
  });
  const { problem, fields: problems, isBusy, run } = useAction();
  const test = () =>
    run(async () => {
      setReport(undefined);
      setReport(
        await call('POST', `/api/v1/Account/${account}/stream-test`, {
          ...fields,
          seconds: Number(fields.seconds),
        }),
      );
    });
  return { report, fields, set, problem, problems, isBusy, test };
}

/** Connects to a bot as a call would, speaks to it, and shows what it did. */
export function StreamTest({ account }: { readonly account: string }) {
  const [isOpen, setOpen] = useState(false);
  const { report, fields, set, problem, problems, isBusy, test } = useStreamTest(account);
  return (
    <>
      <button type="button" class="btn primary" onClick={() => setOpen(true)}>
        {t('Test bot')}
      </button>
      <Drawer title={t('Test bot')} isOpen={isOpen} close={() => setOpen(false)} isWide>
        <form class="body form" onSubmit={onSubmit(() => void test())}>
          <p class="muted">
            {t(
              'The service connects to the WebSocket of the bot, plays recorded speech and listens to the answer. No call is placed.',
            )}
          </p>
          <Problem text={problem} />
          <Input
            label={t('WebSocket URL of the bot')}
            placeholder="wss://bot.example.com/stream"
            type="url"
            value={fields.url}
            set={set('url')}
            problem={problems['url']}
            required
          />
          <div class="pair">
            <Select
              label={t('Audio format')}
              value={fields.content_type}
              set={set('content_type')}
              options={AUDIO_FORMATS}
            />
            <Input
              label={t('Duration in seconds')}
              type="number"
              hint={t('1 to 30')}
              value={fields.seconds}
              set={set('seconds')}
              problem={problems['seconds']}
              required
            />
          </div>
          <div>
            <button type="submit" class="btn primary" aria-busy={isBusy} disabled={isBusy}>
              {isBusy ? t('Testing') : t('Start test')}
            </button>
          </div>
          {report && <Report of={report} />}
        </form>
      </Drawer>
    </>
  );
}

const AUDIO_FORMATS = [
  ['audio/x-l16;rate=8000', t('Linear 16 bit, 8 kHz')],
  ['audio/x-l16;rate=16000', t('Linear 16 bit, 16 kHz')],
  ['audio/x-mulaw;rate=8000', t('µ-law, 8 kHz')],
] as const;

function Report({ of: report }: { readonly of: Row }) {
  const faults = [report['faults'] ?? []].flat().map(text);
  const log = [report['log'] ?? []].flat().map(text);
  return (
    <section class="stack" aria-label={t('Result of the test')}>
      {faults.length === 0 ? (
        <p>
          <Badge tone="good">{t('No fault found')}</Badge>
        </p>
      ) : (
        <div class="callout bad" role="alert">
          <ul class="stack tight">
            {faults.map((fault) => (
              <li key={fault}>{sentence(fault)}</li>
            ))}
          </ul>
        </div>
      )}
      <Facts
        of={rows(report['observations']).map(
          (one) => [sentence(one['name']), text(one['value'])] as const,
        )}
      />
      {log.length > 0 && (
        <details>
          <summary class="small">{t('Progress of the test')}</summary>
          <pre class="code small">{log.join('\n')}</pre>
        </details>
      )}
    </section>
  );
}
