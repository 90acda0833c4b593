import { useState } from 'preact/hooks';
import { call, get, number, rows, text } from '../api.ts';
import { count, words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { go, href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Editor } from '../ui/editor.tsx';
import { Ago, Empty, Head, LoadProblem } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { CampaignPage } from './campaign.tsx';
import { campaignBody, campaignFields, INITIAL } from './campaign-fields.ts';
import { CampaignState, doneOf, Progress } from './campaign-parts.tsx';

const PER_PAGE = 25;
const EVERY_MS = 5000;

export const CampaignPages = (props: PageProps) =>
  props.rest[0] === undefined ? (
    <Campaigns {...props} />
  ) : (
    <CampaignPage key={props.rest[0]} {...props} id={props.rest[0]} />
  );

function Campaigns({ account }: PageProps) {
  const { fields, setAll } = useQuery({ archived: '', page: '1' });
  const page = Number(fields.page);
  const root = `/api/v1/Account/${account}/campaigns`;
  const query = `limit=${PER_PAGE}&offset=${(page - 1) * PER_PAGE}${fields.archived === '' ? '' : '&archived=true'}`;
  const found = useLoad(`${account} ${query}`, () => get(`${root}?${query}`), EVERY_MS);
  const agents = useLoad(`${account} agents`, () =>
    get(`/api/v1/Account/${account}/campaign/agents?limit=100`),
  );
  const [isOpen, setOpen] = useState(false);
  const list = found.value && rows(found.value['objects']);
  const agentRows = rows(agents.value?.['objects']);
  const create = may('change') && (
    <button type="button" class="btn primary" onClick={() => setOpen(true)}>
      {t('Create campaign')}
    </button>
  );
  return (
    <>
      <Head
        title={t('Campaigns')}
        about={t('Lists of contacts that the service calls within calling windows and limits.')}
      >
        <button
          type="button"
          class="btn"
          aria-pressed={fields.archived !== ''}
          onClick={() => setAll({ archived: fields.archived === '' ? '1' : '', page: '1' })}
        >
          {t('Show archived')}
        </button>
        {list !== undefined && list.length > 0 && create}
      </Head>
      <LoadProblem of={found} />
      <Table
        name={t('Campaigns')}
        rows={list}
        problem={found.problem}
        empty={
          <Empty title={t('No campaigns yet.')}>
            <p>
              {agentRows.length === 0
                ? t('A campaign needs an agent, which answers the calls. Create an agent first.')
                : t('Create a campaign, upload contacts and start it.')}
            </p>
            {agentRows.length === 0 ? (
              <a class="btn primary" href={href('agents')}>
                {t('Create agent')}
              </a>
            ) : (
              create
            )}
          </Empty>
        }
        columns={[
          {
            title: t('Name'),
            value: (row) => <a href={href(`campaigns/${text(row['id'])}`)}>{text(row['name'])}</a>,
            sort: (row) => text(row['name']),
          },
          {
            title: t('State'),
            value: (row) => (
              <>
                <CampaignState row={row} />{' '}
                {row['pause_reason'] != null && (
                  <span class="muted small">{words(row['pause_reason'])}</span>
                )}
              </>
            ),
            sort: (row) => text(row['status']),
          },
          { title: t('Progress'), value: (row) => <Progress row={row} /> },
          {
            title: t('Contacts'),
            value: (row) => `${count(doneOf(row))} / ${count(row['total_contacts'])}`,
            sort: (row) => number(row['total_contacts']),
            isNumber: true,
          },
          {
            title: t('Answered'),
            value: (row) => count(row['answered']),
            sort: (row) => number(row['answered']),
            isNumber: true,
            isMinor: true,
          },
          {
            title: t('Last call'),
            value: (row) => <Ago value={row['last_dial_at']} />,
            sort: (row) => text(row['last_dial_at']),
            isMinor: true,
          },
        ]}
      />
      <Pager
        page={page}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={list?.length ?? 0}
        total={number(found.value?.['total'])}
      />
      <Snippets request={{ method: 'GET', path: `${root}?${query}` }} />
      <Editor
        isOpen={isOpen}
        close={() => setOpen(false)}
        row={undefined}
        noun={t('campaign')}
        fields={campaignFields(agentRows)}
        initial={INITIAL}
        request={() => ({ method: 'POST', path: root })}
        prepare={campaignBody}
        save={async (body) => {
          const made = await call('POST', root, body);
          go(href(`campaigns/${text(made['id'])}`));
        }}
        done={found.again}
      />
    </>
  );
}
