// Creates a token of the tenant. It is shown once and forgotten when the page is left.

import { type IssuedToken, ROLES, type Tenant } from '@holdfast/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useValueAct } from '../../api/acts/use-value-act.ts'
import { createBrowserClient } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Panel } from '../../parts/panel.tsx'
import { OneTimeText } from '../../parts/secret/one-time-text.tsx'
import { texts } from '../../texts/en.ts'
import styles from './tenant-page.module.css'

const words = texts.platform.token
const DAY_MS = 86_400_000
const DAYS = 30

export function TokenForm({ tenant: { id, name, platform } }: { readonly tenant: Tenant }) {
  const stale = useStale()
  const roles = ROLES.filter((each) => (each === 'platform-admin') === platform)
  const [role, setRole] = useState(roles.at(-1) ?? 'viewer')
  const { state, run } = useValueAct<IssuedToken>()
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const days = Number(data.get('days') ?? DAYS)
    const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString()
    const request = { name: String(data.get('name') ?? '').trim(), role, expiresAt }
    void run(() => createBrowserClient(id).tenants.issueToken(id, request))
  }
  return (
    <Panel title={words.another} aside={words.note}>
      <form className={styles.form} autoComplete="off" onSubmit={submit}>
        <div className={styles.fields}>
          <TextInput name="name" label={words.name} defaultValue={`${name} administrator`} required />
          <NativeSelect
            label={words.role}
            data={[...roles]}
            value={role}
            onChange={({ currentTarget }) =>
              setRole(roles.find((each) => each === currentTarget.value) ?? role)
            }
          />
          <TextInput
            name="days"
            label={words.days}
            type="number"
            min={1}
            max={365}
            defaultValue={DAYS}
            required
          />
        </div>
        <div>
          <Button type="submit" disabled={state.kind === 'running' || stale}>
            {words.submit(role)}
          </Button>
        </div>
        {state.kind === 'failed' ? <Failed {...state.failure} /> : null}
        {state.kind === 'unknown' ? <p role="status">{words.lost}</p> : null}
        {state.kind === 'done' ? (
          <>
            <OneTimeText
              key={state.value.id}
              label={words.made}
              text={state.value.token}
              lost={words.lostToken}
            />
            <p className={styles.muted}>{words.madeNote}</p>
          </>
        ) : null}
      </form>
    </Panel>
  )
}
