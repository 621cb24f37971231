// The quotas of a tenant with their use, and new limits. The button names what it changes.

import type { Tenant } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { keys } from '../../api/keys.ts'
import { useQuotasOf } from '../../api/platform/use-platform.ts'
import { createBrowserClient } from '../../api/session.tsx'
import { useAct } from '../../api/use-act.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActOutcome } from '../../parts/act-outcome.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'
import { formatBytes, formatNumber } from '../../texts/format.ts'
import { wordsOf } from '../../texts/show-value.ts'
import { changedQuotas, limitText, type Quota, unitOf } from './changed-quotas.ts'
import styles from './tenant-page.module.css'

const words = texts.platform.quota
const amount = (kind: string, value: number): string =>
  unitOf(kind) === undefined ? formatNumber(value) : formatBytes(value)

export function QuotaForm({ tenant }: { readonly tenant: Tenant }) {
  const { data, error } = useQuotasOf(tenant.id)
  return (
    <Panel title={words.title} aside={words.note}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={6} /> : null}
      {data === undefined ? null : <Fields tenant={tenant} quotas={data} />}
    </Panel>
  )
}

function Fields({ tenant, quotas }: { readonly tenant: Tenant; readonly quotas: readonly Quota[] }) {
  const stale = useStale()
  const queries = useQueryClient()
  const [typed, setTyped] = useState<{ readonly [kind: string]: string }>({})
  const { state, run } = useAct()
  const changes = changedQuotas(quotas, typed)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (changes.length === 0) return
    const sent = Object.fromEntries(changes.map(({ kind, to }) => [kind, to]))
    run(async () => {
      const client = createBrowserClient(tenant.id)
      const ifMatch = String(tenant.revision)
      const changed = await client.tenants.change(tenant.id, { quotas: sent }, { ifMatch })
      await queries.invalidateQueries({ queryKey: keys.platform() })
      if (changed.ok) setTyped({})
      return changed
    })
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      {quotas.map((quota) => (
        <div key={quota.kind} className={styles.quota}>
          <strong>{wordsOf(quota.kind)}</strong>
          <span className={styles.muted}>
            {words.used(amount(quota.kind, quota.used), amount(quota.kind, quota.limit))}
          </span>
          <TextInput
            aria-label={words.limit(wordsOf(quota.kind))}
            inputMode="decimal"
            value={typed[quota.kind] ?? limitText(quota)}
            rightSection={<span className={styles.muted}>{unitOf(quota.kind)?.word}</span>}
            rightSectionWidth={44}
            onChange={({ currentTarget: { value } }) => setTyped({ ...typed, [quota.kind]: value })}
          />
        </div>
      ))}
      {changes
        .filter(({ to, used }) => to < used)
        .map(({ kind }) => (
          <p key={kind}>{words.below(wordsOf(kind))}</p>
        ))}
      <div>
        <Button type="submit" disabled={changes.length === 0 || state.kind === 'running' || stale}>
          {changes.length === 0
            ? words.unchanged
            : words.change(
                changes.map(({ kind, from, to }) =>
                  words.one(wordsOf(kind), amount(kind, from), amount(kind, to)),
                ),
              )}
        </Button>
      </div>
      <ActOutcome outcome={state} done={words.done} />
    </form>
  )
}
