// The volumes with a copy on a node; a volume's name leads to its page. Nothing is shown on a platform without volumes.

import type { Volume } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useVolumesOn } from '../../api/resources/use-volumes.ts'
import { useSession } from '../../api/session.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { texts } from '../../texts/en.ts'
import { formatBytes } from '../../texts/format.ts'
import styles from './node-page.module.css'

export function NodeVolumes({ id }: { readonly id: string }) {
  const volumes = useVolumesOn(id)
  if (volumes === undefined) return null
  return (
    <Panel title={texts.nodes.volumesOnIt} aside={String(volumes.length)}>
      {volumes.length === 0 ? <p className={styles.none}>{texts.nodes.noVolumeOnIt}</p> : null}
      <ul>
        {volumes.map((volume) => (
          <Row key={volume.id} volume={volume} node={id} />
        ))}
      </ul>
    </Panel>
  )
}

function Row({ volume, node }: { readonly volume: Volume; readonly node: string }) {
  const { tenant } = useSession()
  const { id, name, copies, usedBytes, sizeBytes } = volume
  const copy = copies.find(({ nodeId }) => nodeId === node)
  if (copy === undefined) return null
  const used = usedBytes === null ? undefined : formatBytes(usedBytes)
  return (
    <li className={styles.replica}>
      <Link to="/t/$tenant/volumes/$volume" params={{ tenant, volume: id }} className={styles.link} data-row>
        {name}
      </Link>
      <PhaseBadge word={copy.state} />
      <span className={styles.muted}>
        {volumeTexts.role[copy.role]}, {volumeTexts.usedOf(used, formatBytes(sizeBytes))}
      </span>
    </li>
  )
}
