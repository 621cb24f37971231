// The state of the control plane itself, with what is wrong and the next step, and the tenants in trouble.

import type { Platform } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { usePlatform, useWorstTenants } from '../../api/platform/use-platform.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Notice } from '../../parts/notice.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { platformEquivalents } from '../../texts/commands/platform.ts'
import { texts } from '../../texts/en.ts'
import { findTroubles } from './find-troubles.ts'
import styles from './platform-page.module.css'
import { TenantHealth } from './tenant-health.tsx'

const words = texts.platform

export function PlatformPage() {
  const { data, error, refetch } = usePlatform()
  const troubles = data === undefined ? undefined : findTroubles(data)
  return (
    <div className={styles.page}>
      <PageHead
        title={words.page}
        aside={troubles?.length === 0 ? <PhaseBadge word="ready" label={words.well} /> : null}
      />
      {(troubles ?? []).map(({ severity, title, next }) => (
        <Notice key={title} severity={severity} title={title}>
          <p>{next}</p>
        </Notice>
      ))}
      {error === null ? null : <Failed {...explainFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {data === undefined ? null : <State platform={data} />}
      <WorstTenants />
      <CliFoot same={platformEquivalents.platform()} />
    </div>
  )
}

function State({ platform }: { readonly platform: Platform }) {
  const { servers, shards, store, secretsStore, massFailureHold } = platform
  const alive = servers.filter((server) => server.alive).length
  return (
    <Panel title={words.state}>
      <dl className={styles.facts}>
        <Fact name={words.servers}>
          <Link to="/platform/servers" className={styles.link}>
            {words.alive(alive, servers.length)}
          </Link>
        </Fact>
        <Fact name={words.shards}>{words.led(shards.total - shards.unowned.length, shards.total)}</Fact>
        <Fact name={words.store}>
          <Connected state={store.state} />
          {store.usedPercent === null ? null : `, ${words.used(store.usedPercent)}`}
        </Fact>
        <Fact name={words.secretsStore}>
          <Connected state={secretsStore.state} />
        </Fact>
        <Fact name={words.hold}>
          {massFailureHold.active ? words.holdActive(massFailureHold.nodes) : words.holdInactive}
        </Fact>
      </dl>
    </Panel>
  )
}

const Connected = ({ state }: { readonly state: 'connected' | 'disconnected' }) => (
  <PhaseBadge word={state === 'connected' ? 'ready' : 'failed'} label={words.words[state]} />
)

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const SHOWN = 5

function WorstTenants() {
  const { items, error } = useWorstTenants('', SHOWN)
  return (
    <Panel title={words.worst}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {items === undefined && error === null ? <Loading /> : null}
      <ul className={styles.tenants}>
        {(items ?? []).slice(0, SHOWN).map((tenant) => (
          <li key={tenant.id}>
            <Link to="/platform/tenants/$id" params={{ id: tenant.id }} className={styles.link} data-row>
              {tenant.name}
            </Link>
            <TenantHealth tenant={tenant} />
            <span className={styles.muted}>{tenant.quotasReached.join(', ')}</span>
          </li>
        ))}
      </ul>
      <p className={styles.more}>
        <Link to="/platform/tenants" search={{}}>
          {words.all}
        </Link>
      </p>
    </Panel>
  )
}
