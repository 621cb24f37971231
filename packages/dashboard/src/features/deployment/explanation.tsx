// One explanation of the server: its summary, failing containers, remedies, and the matrix of nodes and filters.

import type { Why } from '@holdfast/contract'
import type { Cordon } from '../../api/use-cordon.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActOutcome } from '../../parts/act-outcome.tsx'
import { CureList, type Remedy } from '../../parts/cure-list.tsx'
import { Matrix } from '../../parts/matrix.tsx'
import { type MatrixRow, rowOfCandidate, rowOfGroup } from '../../parts/matrix-rows.ts'
import { Moment } from '../../parts/moment.tsx'
import { texts } from '../../texts/en.ts'
import { FailingContainers } from './failing-containers.tsx'
import { type KnownRemedy, remediesOf } from './remedies-of.ts'
import { RemedyPages } from './remedy-pages.tsx'
import styles from './why-page.module.css'

interface Props {
  readonly why: Why
  /** True for an explanation of the past, in which nothing can be changed. */
  readonly past: boolean
  /** The sentence above the tabs, which is not repeated. */
  readonly shown: string | undefined
  readonly cordon: Cordon
}

export function Explanation({ why, past, shown, cordon }: Props) {
  const rows = rowsOf(why)
  const isWell = why.phase === 'Running' && rows.length === 0 && why.containers === undefined && !past
  const remedies = remediesOf(why).map((known) => withButton(known, past ? undefined : cordon))
  return (
    <>
      <p className={styles.summary}>
        {why.summary === shown && !past ? null : <strong>{why.summary} </strong>}
        {isWell ? texts.why.placed : null}
        {why.decidedAt === null || isWell ? null : (
          <span className={styles.muted}>
            {texts.why.decided} <Moment iso={why.decidedAt} />
          </span>
        )}
      </p>
      {why.canary === undefined ? null : <p>{why.canary}</p>}
      <ActOutcome outcome={cordon.outcome} />
      {why.containers === undefined ? null : <FailingContainers containers={why.containers} />}
      {rows.length === 0 && remedies.length === 0 ? null : <CureList remedies={remedies} />}
      {rows.length === 0 ? null : <Matrix rows={rows} />}
    </>
  )
}

function rowsOf({ candidates, groups }: Why): MatrixRow[] {
  return groups === undefined
    ? candidates.map(rowOfCandidate)
    : groups.map((group) => rowOfGroup(group, texts.why.group(group.count)))
}

/** Adds the button to a remedy that one request carries out, and links to the pages that help with the others. */
function withButton({ uncordon: node, pages, ...words }: KnownRemedy, cordon: Cordon | undefined): Remedy {
  if (cordon === undefined) return words
  const remedy = pages.length === 0 ? words : { ...words, pages: <RemedyPages pages={pages} /> }
  if (node === undefined) return remedy
  const act = (
    <ActButton
      label={texts.cordon.uncordon(node.name)}
      closed={cordon.closed}
      running={cordon.outcome.kind === 'running'}
      onAct={() => cordon.run('uncordon', node)}
    />
  )
  return { ...remedy, act }
}
