// The copies of a volume with their place and lag, and what happens if the node of the primary dies at this moment.

import type { Node, Volume } from '@holdfast/contract'
import { useKnownNode, usePlace } from '../../api/nodes/use-node-place.ts'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { formatDuration } from '../../texts/format.ts'
import { showPlace } from '../../texts/show-place.ts'
import styles from './volume-page.module.css'

type Copy = Volume['copies'][number]

export function Copies({ volume }: { readonly volume: Volume }) {
  const { copies, primary } = volume
  return (
    <Panel title={volumeTexts.copies} aside={copies.length}>
      <ul>
        {copies.map((copy) => (
          <li key={copy.nodeId} className={styles.row}>
            <strong>{copy.nodeName}</strong>
            <span>
              {volumeTexts.role[copy.role]}
              {copy.nodeId === primary?.nodeId ? (
                <span className={styles.muted}>, {volumeTexts.epoch(primary.epoch)}</span>
              ) : null}
            </span>
            <PhaseBadge word={copy.state} />
            <Place nodeId={copy.nodeId} />
            {copy.role === 'primary' ? null : (
              <span className={styles.lag}>
                <Lag copy={copy} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <Forecast volume={volume} />
    </Panel>
  )
}

/** Empty until the node was read. */
function Place({ nodeId }: { readonly nodeId: string }) {
  const node = useKnownNode(nodeId)
  return <span className={styles.muted}>{node === undefined ? null : <PlaceOf node={node} />}</span>
}

const PlaceOf = ({ node }: { readonly node: Node }) => showPlace(usePlace(node))

function Lag({ copy: { checkpointAge, promotable } }: { readonly copy: Copy }) {
  const lag =
    checkpointAge === null ? volumeTexts.unknownLag : volumeTexts.behind(formatDuration(checkpointAge * 1000))
  return (
    <>
      {lag}; {promotable ? volumeTexts.promotable : volumeTexts.notPromotable}
    </>
  )
}

/** The sentence of the server, and what keeps each other copy from taking over. */
function Forecast({ volume: { ifPrimaryDies, primary, consumers } }: { readonly volume: Volume }) {
  if (ifPrimaryDies === undefined || primary === null) return null
  const { message, nodeId, copies } = ifPrimaryDies
  return (
    <section className={styles.forecast} aria-label={volumeTexts.ifDies(primary.nodeName)}>
      <p>
        <strong>{message}</strong>{' '}
        {nodeId === null || consumers.length === 0 ? null : volumeTexts.restarts(consumers.join(', '))}
      </p>
      <ul>
        {copies
          .filter(({ obstacle }) => obstacle !== 'none')
          .map((copy) => (
            <li key={copy.nodeId} className={styles.muted}>
              {copy.message}
            </li>
          ))}
      </ul>
    </section>
  )
}
