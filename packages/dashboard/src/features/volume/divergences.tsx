// Data that a former primary wrote and that the promoted copy lacks. Each is kept for a while and can be downloaded.

import type { Divergence, Volume } from '@holdfast/contract'
import { explainFailure } from '../../api/failure.ts'
import { useDivergences } from '../../api/resources/use-volumes.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { texts } from '../../texts/en.ts'
import { formatBytes } from '../../texts/format.ts'
import { divergenceCommand } from '../../texts/resource-commands.ts'
import styles from './volume-page.module.css'

const NEEDS = 'divergences:read'

export function Divergences({ volume: { id, name } }: { readonly volume: Volume }) {
  const { me } = useSession()
  const allowed = mayDo(me, NEEDS)
  const { data, error } = useDivergences(id, allowed)
  return (
    <Panel title={volumeTexts.divergences} aside={volumeTexts.divergencesNote}>
      {allowed ? null : <p className={styles.none}>{texts.roles.needs(NEEDS, me.token.role)}</p>}
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {allowed && data === undefined && error === null ? <Loading lines={1} /> : null}
      {data?.items.length === 0 && data.unobserved.length === 0 ? (
        <p className={styles.none}>{volumeTexts.noDivergence}</p>
      ) : null}
      <ul>
        {data?.items.map((divergence) => (
          <Row key={`${divergence.nodeId} ${divergence.epoch}`} volume={name} divergence={divergence} />
        ))}
        {data?.unobserved.map(({ nodeId, nodeName, message }) => (
          <li key={nodeId} className={styles.line}>
            {volumeTexts.unobserved(nodeName, message)}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Row({ volume, divergence }: { readonly volume: string; readonly divergence: Divergence }) {
  const { epoch, nodeName, bytes, keptUntil, unavailable } = divergence
  const command = divergenceCommand(volume, epoch)
  return (
    <li className={styles.line}>
      <span>{volumeTexts.divergence(epoch, nodeName)}</span>
      <span>{bytes === null ? volumeTexts.counting : formatBytes(bytes)}</span>
      <span className={styles.muted}>
        {volumeTexts.keptUntil} <Moment iso={keptUntil} />
      </span>
      {unavailable === null ? (
        <span>
          <code>{command}</code> <CopyButton text={command} />
        </span>
      ) : (
        <span>{unavailable.message}</span>
      )}
    </li>
  )
}
