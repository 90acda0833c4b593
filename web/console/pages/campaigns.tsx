import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { allOf, call, get, number, type Row, rows, text } from '../api.ts';
import { count, words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { go, href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { numberColumn, textColumn } from '../ui/columns.tsx';
import { Editor } from '../ui/editor.tsx';
import { Ago, Empty, Head } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { type Column, PagedTable } from '../ui/table.tsx';
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

/** Campaigns of the page in the URL, and the agents of the account. */
function useCampaigns(account: string) {
  const { fields, setAll } = useQuery({ archived: '', page: '1' });
  const page = Number(fields.page);
  const root = `/api/v1/Account/${account}/campaigns`;
  const query = `limit=${PER_PAGE}&offset=${(page - 1) * PER_PAGE}${fields.archived === '' ? '' : '&archived=true'}`;
  const found = useLoad(`${account} ${query}`, () => get(`${root}?${query}`), EVERY_MS);
  const agents = useLoad(`${account} agents`, () =>
    allOf(`/api/v1/Account/${account}/campaign/agents`),
  );
  const list = found.value && rows(found.value['objects']);
  return {
    fields,
    setAll,
    page,
    root,
    query,
    found,
    list,
    agents: agents.value ?? [],
  };
}

function Campaigns({ account }: PageProps) {
  const { fields, setAll, page, root, query, found, list, agents } = useCampaigns(account);
  const [isOpen, setOpen] = useState(false);
  const isArchived = fields.archived !== '';
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
          aria-pressed={isArchived}
          onClick={() => setAll({ archived: isArchived ? '' : '1', page: '1' })}
        >
          {t('Show archived')}
        </button>
        {list !== undefined && list.length > 0 && create}
      </Head>
      <PagedTable
        name={t('Campaigns')}
        rows={list}
        found={found}
        empty={agents.length === 0 ? <NoAgents /> : <NoCampaigns create={create} />}
        columns={columnsOf()}
        pager={{
          page,
          set: (next) => setAll({ page: String(next) }),
          perPage: PER_PAGE,
          total: number(found.value?.['total']),
        }}
      />
      <Snippets request={{ method: 'GET', path: `${root}?${query}` }} />
      <NewCampaign
        root={root}
        agents={agents}
        isOpen={isOpen}
        close={() => setOpen(false)}
        done={found.again}
      />
    </>
  );
}

const NoAgents = () => (
  <Empty title={t('No campaigns yet.')}>
    <p>{t('A campaign needs an agent, which answers the calls. Create an agent first.')}</p>
    <a class="btn primary" href={href('agents')}>
      {t('Create agent')}
    </a>
  </Empty>
);

const NoCampaigns = ({ create }: { readonly create: ComponentChildren }) => (
  <Empty title={t('No campaigns yet.')}>
    <p>{t('Create a campaign, upload contacts and start it.')}</p>
    {create}
  </Empty>
);

/** A function, because a table draws unchanged rows again only with new columns, and relative times change. */
const columnsOf = (): readonly Column[] => [
  textColumn(t('Name'), 'name', {
    value: (row) => <a href={href(`campaigns/${text(row['id'])}`)}>{text(row['name'])}</a>,
  }),
  textColumn(t('State'), 'status', {
    value: (row) => (
      <>
        <CampaignState row={row} />{' '}
        {row['pause_reason'] != null && (
          <span class="muted small">{words(row['pause_reason'])}</span>
        )}
      </>
    ),
  }),
  { title: t('Progress'), value: (row) => <Progress row={row} /> },
  numberColumn(t('Contacts'), 'total_contacts', {
    value: (row) => `${count(doneOf(row))} / ${count(row['total_contacts'])}`,
  }),
  numberColumn(t('Answered'), 'answered', { isMinor: true }),
  textColumn(t('Last call'), 'last_dial_at', {
    value: (row) => <Ago value={row['last_dial_at']} />,
    isMinor: true,
  }),
];

interface NewProps {
  /** Path of the campaigns. */
  readonly root: string;
  readonly agents: readonly Row[];
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: () => void;
}

/** Form that creates a campaign and opens its page. */
const NewCampaign = ({ root, agents, isOpen, close, done }: NewProps) => (
  <Editor
    isOpen={isOpen}
    close={close}
    row={undefined}
    noun={t('campaign')}
    fields={campaignFields(agents)}
    initial={INITIAL}
    request={() => ({ method: 'POST', path: root })}
    prepare={campaignBody}
    save={async (body) => {
      const made = await call('POST', root, body);
      go(href(`campaigns/${text(made['id'])}`));
    }}
    done={done}
  />
);
