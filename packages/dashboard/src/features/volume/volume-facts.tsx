// The facts of a volume: its writer, its primary, its demands.

import type { Volume } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Fact, Facts } from '../../parts/resource/facts.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { showValue } from '../../texts/show-value.ts'
import styles from './volume-page.module.css'

export function VolumeFacts({ volume }: { readonly volume: Volume }) {
  const { primary, fencedSince, residency, measuredAt, createdAt, replicas } = volume
  return (
    <Panel title={volumeTexts.facts}>
      <Facts>
        <Fact name={volumeTexts.mountedBy}>
          <Users volume={volume} />
        </Fact>
        <Fact name={volumeTexts.primary}>
          {primary === null ? volumeTexts.noPrimary : volumeTexts.primaryOn(primary.nodeName, primary.epoch)}
        </Fact>
        {primary === null ? null : (
          <Fact name={volumeTexts.since}>
            <Moment iso={primary.since} />
          </Fact>
        )}
        <Fact name={volumeTexts.replicas}>{replicas}</Fact>
        {fencedSince === null ? null : (
          <Fact name={volumeTexts.fenced}>
            <Moment iso={fencedSince} />
          </Fact>
        )}
        {residency === undefined ? null : (
          <Fact name={volumeTexts.residency}>{showValue({ ...residency })}</Fact>
        )}
        {measuredAt === null ? null : (
          <Fact name={volumeTexts.measured}>
            <Moment iso={measuredAt} />
          </Fact>
        )}
        <Fact name={volumeTexts.createdAt}>
          <Moment iso={createdAt} />
        </Fact>
      </Facts>
    </Panel>
  )
}

function Users({ volume: { consumers } }: { readonly volume: Volume }) {
  const { tenant } = useSession()
  if (consumers.length === 0) return volumeTexts.noUser
  return consumers.map((name) => (
    <Link
      key={name}
      className={styles.link}
      to="/t/$tenant/deployments/$name/why"
      params={{ tenant, name }}
      search={{}}
    >
      {name}
    </Link>
  ))
}
