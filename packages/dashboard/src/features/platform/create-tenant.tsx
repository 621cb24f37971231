// Creates a tenant, then opens its page, where its first token is created.

import type { Tenant } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useValueAct } from '../../api/acts/use-value-act.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Panel } from '../../parts/panel.tsx'
import { platformEquivalents } from '../../texts/commands/platform.ts'
import { texts } from '../../texts/en.ts'
import styles from './platform-page.module.css'

const words = texts.platform.tenant

export function CreateTenant() {
  const { client } = useSession()
  const stale = useStale()
  const navigate = useNavigate()
  const { state, run } = useValueAct<Tenant>()
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim()
    void run(async () => {
      const created = await client.tenants.create({ name })
      if (created.ok) await navigate({ to: '/platform/tenants/$id', params: { id: created.value.id } })
      return created
    })
  }
  return (
    <Panel title={words.create}>
      <form className={styles.form} onSubmit={submit}>
        <TextInput
          name="name"
          label={words.newName}
          description={words.newHint}
          required
          spellCheck={false}
        />
        <Button type="submit" disabled={state.kind === 'running' || stale}>
          {words.submit}
        </Button>
        <code>{platformEquivalents.create('NAME').command}</code>
        {state.kind === 'unknown' ? <p role="status">{words.lost}</p> : null}
      </form>
      {state.kind === 'failed' ? <Failed {...state.failure} /> : null}
    </Panel>
  )
}
