// Compares any two kept revisions of a deployment. The pair is in the address, so that a comparison can be linked to.

import type { ArchiveEntry } from '@holdfast/contract'
import { Panel } from '../../parts/panel.tsx'
import { revisionChanges } from '../../parts/plan/changed-fields.ts'
import { FieldChanges } from '../../parts/plan/field-changes.tsx'
import { historyTexts } from '../../texts/en/history.ts'
import styles from './history-page.module.css'

interface Pair {
  readonly from?: number
  readonly to?: number
}

interface Props {
  /** The revisions, newest first. */
  readonly entries: readonly ArchiveEntry[]
  readonly pair: Pair
  onChoose(pair: Pair): void
}

export function Compare({ entries, pair, onChoose }: Props) {
  const find = (revision: number | undefined, otherwise: ArchiveEntry | undefined) =>
    entries.find((entry) => entry.revision === revision) ?? otherwise
  const [from, to] = [find(pair.from, entries[1]), find(pair.to, entries[0])]
  if (from === undefined || to === undefined) return null
  const chosen = { from: from.revision, to: to.revision }
  const changes = revisionChanges(from, to)
  return (
    <Panel title={historyTexts.compare}>
      <div className={styles.pair}>
        {(['from', 'to'] as const).map((side) => (
          <label key={side} className={styles.choice}>
            {historyTexts[side]}
            <select
              value={chosen[side]}
              onChange={(event) => onChoose({ ...chosen, [side]: Number(event.currentTarget.value) })}
            >
              {entries.map(({ revision }) => (
                <option key={revision} value={revision}>
                  {revision}
                </option>
              ))}
            </select>
          </label>
        ))}
      </div>
      {changes.length === 0 ? (
        <p className={styles.none}>{historyTexts.same}</p>
      ) : (
        <div className={styles.inset}>
          <FieldChanges changes={changes} />
        </div>
      )}
    </Panel>
  )
}
