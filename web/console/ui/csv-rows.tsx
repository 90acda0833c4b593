/** Parts of an upload of CSV rows: selection of the file, and correction of invalid rows in place. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../text.ts';

export type Cells = readonly string[];

interface DropProps {
  /** Name of the selected file. */
  readonly name: string | undefined;
  readonly choose: (file: File) => void;
  /** The expected columns. */
  readonly children: ComponentChildren;
}

/** Area that receives a CSV file by drop or by selection. */
export function CsvDrop({ name, choose, children }: DropProps) {
  const [isOver, setOver] = useState(false);
  const take = (file: File | undefined) => file !== undefined && choose(file);
  return (
    <label
      class="drop"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files[0]);
      }}
    >
      <span>{name ?? t('Drop a CSV file here, or select one.')}</span>
      <input
        type="file"
        accept=".csv,text/csv"
        aria-label={t('CSV file')}
        onChange={({ currentTarget }) => take(currentTarget.files?.[0])}
      />
      <span class="small muted">{children}</span>
    </label>
  );
}

/** Returns the rows with another value in one cell. */
export const withCell = (
  rows: readonly Cells[],
  row: number,
  column: number,
  value: string,
): readonly Cells[] =>
  rows.map((cells, at) => (at === row ? Object.assign([...cells], { [column]: value }) : cells));

interface CorrectionsProps {
  readonly rows: readonly Cells[];
  readonly invalid: ReadonlyMap<number, string>;
  readonly correct: (row: number, column: number, value: string) => void;
  /** What the user can do. */
  readonly children: ComponentChildren;
}

/** Invalid rows with their reasons and inputs for their cells. Row 1 is the first row after the header. */
export function Corrections({ rows: all, invalid, correct, children }: CorrectionsProps) {
  const [header = []] = all;
  return (
    <section class="stack tight">
      <h3>{t('Invalid rows')}</h3>
      <p class="small muted">{children}</p>
      <div class="table-wrap">
        <table>
          <thead>
            <tr>
              <th scope="col" class="num">
                {t('Row')}
              </th>
              <th scope="col">{t('Reason')}</th>
              {header.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...invalid].map(([row, reason]) => (
              <tr key={row}>
                <td class="num">{row}</td>
                <td class="text-bad">{reason}</td>
                {header.map((name, at) => (
                  <td key={name}>
                    <input
                      class="input"
                      aria-label={t('{column} of row {row}', { column: name, row })}
                      value={all[row]?.[at] ?? ''}
                      onInput={({ currentTarget }) => correct(row, at, currentTarget.value)}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
