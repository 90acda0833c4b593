import { call, get, type Row, rows, text } from '../api.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { changeColumn, Input, onSubmit, Problem, State, Table } from '../parts.tsx';
import type { BuildProps } from './build-props.ts';

const NEW = { app_id: '', app_name: '', answer_url: '', hangup_url: '', fallback_answer_url: '' };

export function Applications({ account }: BuildProps) {
  const path = `/api/v1/Account/${account}/Application/`;
  const { value, problem: unread, again } = useLoad(account, () => get(`${path}?limit=100`));
  const { fields: edited, setFields: setEdited, set } = useFields(NEW);
  const { problem, run } = useAction();
  const isNew = edited.app_id === '';
  const edit = (row: Row) =>
    setEdited({
      app_id: text(row['app_id']),
      app_name: text(row['app_name']),
      answer_url: text(row['answer_url']),
      hangup_url: text(row['hangup_url']),
      fallback_answer_url: text(row['fallback_answer_url']),
    });
  const save = () =>
    run(async () => {
      const { app_id: id, ...body } = edited;
      await call('POST', isNew ? path : `${path}${id}/`, body);
      setEdited(NEW);
      again();
    });
  return (
    <>
      <Problem text={unread ?? problem} />
      <Table
        name="Applications"
        rows={value && rows(value['objects'])}
        empty="No applications yet. Create one below."
        columns={[
          { title: 'Name', value: (row) => text(row['app_name']) },
          { title: 'Answer URL', value: (row) => text(row['answer_url']) },
          {
            title: 'State',
            value: (row) => (
              <State good={row['enabled'] === true}>{row['enabled'] ? 'enabled' : 'off'}</State>
            ),
            isMinor: true,
          },
          changeColumn(edit),
        ]}
      />
      {may('change') && <h3>{isNew ? 'New application' : `Change ${edited.app_name}`}</h3>}
      {may('change') && (
        <form onSubmit={onSubmit(() => void save())}>
          <div class="row">
            <Input label="Name" value={edited.app_name} set={set('app_name')} required />
            <Input
              label="Answer URL"
              type="url"
              value={edited.answer_url}
              set={set('answer_url')}
              required
              wider
            />
            <Input
              label="Hangup URL"
              type="url"
              value={edited.hangup_url}
              set={set('hangup_url')}
              wider
            />
            <Input
              label="Fallback URL"
              type="url"
              value={edited.fallback_answer_url}
              set={set('fallback_answer_url')}
              wider
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
    </>
  );
}
