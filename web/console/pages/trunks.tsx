import { call, get, type Row, rows, text } from '../api.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import {
  changeColumn,
  Input,
  onSubmit,
  Problem,
  removeColumn,
  Select,
  State,
  Table,
} from '../parts.tsx';
import type { BuildProps } from './build-props.ts';
import {
  CREDENTIALS,
  choicesOf,
  IP_ACLS,
  ORIGINATION_URIS,
  Parts,
  useParts,
} from './trunk-parts.tsx';

const NEW = {
  trunk_id: '',
  name: '',
  trunk_direction: 'inbound',
  trunk_status: 'enabled',
  transport: 'udp',
  secure: 'false',
  primary_uri_uuid: '',
  fallback_uri_uuid: '',
  credential_uuid: '',
  ipacl_uuid: '',
  concurrent_calls_limit: '',
  cps_limit: '',
  recording: 'false',
  webhook_url: '',
  description: '',
};
type Fields = typeof NEW;
type SetField = (name: keyof Fields) => (value: string) => void;

/** Builds the request body. An empty limit means the default of the service; an empty part or callback removes it. */
function bodyOf({ trunk_id: _, concurrent_calls_limit: calls, cps_limit: cps, ...rest }: Fields) {
  return {
    ...rest,
    secure: rest.secure === 'true',
    recording: rest.recording === 'true',
    ...(calls !== '' && { concurrent_calls_limit: Number(calls) }),
    ...(cps !== '' && { cps_limit: Number(cps) }),
  };
}

const fieldsOf = (row: Row): Fields =>
  Object.fromEntries(Object.keys(NEW).map((name) => [name, text(row[name])])) as Fields;

/** Trunks of the account and their parts. */
export function Trunks({ account }: BuildProps) {
  const path = `/api/v1/Account/${account}/trunks`;
  const { value, problem: unread, again } = useLoad(account, () => get(`${path}?limit=100`));
  const uris = useParts(account, ORIGINATION_URIS);
  const credentials = useParts(account, CREDENTIALS);
  const acls = useParts(account, IP_ACLS);
  const { fields: edited, setFields: setEdited, set } = useFields(NEW);
  const { problem, run } = useAction();
  const isNew = edited.trunk_id === '';
  const save = () =>
    run(async () => {
      const body = bodyOf(edited);
      await (isNew ? call('POST', path, body) : call('PUT', `${path}/${edited.trunk_id}`, body));
      setEdited(NEW);
      again();
    });
  const remove = (row: Row) =>
    run(async () => {
      await call('DELETE', `${path}/${text(row['trunk_id'])}`);
      if (row['trunk_id'] === edited.trunk_id) setEdited(NEW);
      again();
    });
  const ofUris = choicesOf(uris, ORIGINATION_URIS);
  return (
    <>
      <Problem text={unread ?? problem} />
      <Table
        name="Trunks"
        rows={value && rows(value['objects'])}
        empty="No trunks yet. Create one below."
        columns={[
          { title: 'Name', value: (row) => text(row['name']) },
          { title: 'Direction', value: (row) => text(row['trunk_direction']), isMinor: true },
          { title: 'Domain', value: (row) => text(row['trunk_domain']) },
          {
            title: 'State',
            value: (row) => (
              <State good={row['trunk_status'] === 'enabled'}>{text(row['trunk_status'])}</State>
            ),
            isMinor: true,
          },
          changeColumn((row) => setEdited(fieldsOf(row))),
          removeColumn((row) => text(row['name']), remove),
        ]}
      />
      {may('change') && <h3>{isNew ? 'New trunk' : `Change ${edited.name}`}</h3>}
      {may('change') && (
        <form aria-label="Trunk" onSubmit={onSubmit(() => void save())}>
          <Basics edited={edited} set={set} />
          <div class="row">
            <PartChoice
              label="Primary destination"
              name="primary_uri_uuid"
              {...{ edited, set }}
              of={ofUris}
            />
            <PartChoice
              label="Fallback destination"
              name="fallback_uri_uuid"
              {...{ edited, set }}
              of={ofUris}
            />
            <PartChoice
              label="Credentials of the peer"
              name="credential_uuid"
              {...{ edited, set }}
              of={choicesOf(credentials, CREDENTIALS)}
            />
            <PartChoice
              label="Allowed addresses"
              name="ipacl_uuid"
              {...{ edited, set }}
              of={choicesOf(acls, IP_ACLS)}
            />
          </div>
          <button type="submit">{isNew ? 'Create' : 'Save'}</button>
          {!isNew && (
            <button type="button" class="secondary" onClick={() => setEdited(NEW)}>
              Leave it
            </button>
          )}
        </form>
      )}
      <Parts account={account} kind={ORIGINATION_URIS} loaded={uris} />
      <Parts account={account} kind={CREDENTIALS} loaded={credentials} />
      <Parts account={account} kind={IP_ACLS} loaded={acls} />
    </>
  );
}

interface FormProps {
  readonly edited: Fields;
  readonly set: SetField;
}

const same = (...values: readonly string[]) => values.map((one) => [one, one] as const);
const YES_NO = [
  ['false', 'no'],
  ['true', 'yes'],
] as const;

const Basics = ({ edited, set }: FormProps) => (
  <div class="row">
    <Input label="Name" value={edited.name} set={set('name')} required />
    <Select
      label="Direction"
      value={edited.trunk_direction}
      set={set('trunk_direction')}
      options={same('inbound', 'outbound', 'both')}
    />
    <Select
      label="State"
      value={edited.trunk_status}
      set={set('trunk_status')}
      options={same('enabled', 'disabled')}
    />
    <Select
      label="Transport"
      value={edited.transport}
      set={set('transport')}
      options={same('udp', 'tcp', 'tls')}
    />
    <Select
      label="Encrypted audio (SRTP)"
      value={edited.secure}
      set={set('secure')}
      options={YES_NO}
    />
    <Select label="Record calls" value={edited.recording} set={set('recording')} options={YES_NO} />
    <Input
      label="Concurrent calls"
      value={edited.concurrent_calls_limit}
      set={set('concurrent_calls_limit')}
    />
    <Input label="Calls per second" value={edited.cps_limit} set={set('cps_limit')} />
    <Input
      label="Callback URL"
      type="url"
      value={edited.webhook_url}
      set={set('webhook_url')}
      wider
    />
    <Input label="Description" value={edited.description} set={set('description')} wider />
  </div>
);

interface PartChoiceProps extends FormProps {
  readonly label: string;
  readonly name: keyof Fields;
  readonly of: ReadonlyArray<readonly [string, string]>;
}

/** Selects a part. A selected part that is not in the list stays selected, so that saving does not remove it. */
function PartChoice({ label, name, edited, set, of }: PartChoiceProps) {
  const chosen = edited[name];
  const isListed = of.some(([one]) => one === chosen);
  const options = isListed ? of : [...of, [chosen, chosen] as const];
  return <Select label={label} value={chosen} set={set(name)} options={options} />;
}
