import { get, text } from '../api.ts';
import { words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Card, Facts, LoadProblem } from '../ui/parts.tsx';

interface Props {
  readonly account: string;
  readonly uuid: string;
}

/** Campaign and contact of a call that a campaign placed. */
export function CampaignOf({ account, uuid }: Props) {
  const root = `/api/v1/Account/${account}`;
  const found = useLoad(`${account} ${uuid}`, () => get(`${root}/call-lookup/${uuid}`));
  const one = found.value;
  const campaign = text(one?.['campaign_id']);
  const contacts = href(`campaigns/${campaign}`, { part: 'contacts', q: text(one?.['to_number']) });
  return (
    <Card title={t('Campaign')}>
      <LoadProblem of={found} />
      {one && (
        <Facts
          of={[
            [
              t('Campaign'),
              <a key="campaign" href={href(`campaigns/${campaign}`)}>
                {campaign}
              </a>,
            ],
            [
              t('Contact'),
              <a key="contact" href={contacts}>
                {t('{number}, row {row}', {
                  number: text(one['to_number']),
                  row: text(one['row_number']),
                })}
              </a>,
            ],
            [t('Attempt'), text(one['attempt_number'])],
            [t('Status'), words(one['status'])],
            [
              t('Answered by'),
              one['machine'] === true
                ? t('Machine')
                : one['machine'] === false
                  ? t('Person')
                  : undefined,
            ],
          ]}
        />
      )}
    </Card>
  );
}
