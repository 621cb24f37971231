// Joins a machine: the command to run on it, and what has happened since, until the node is ready.

import type { IssuedJoinToken } from '@holdfast/contract'
import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useJoin } from '../../api/nodes/use-join.ts'
import { useSession, whyClosed } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { OneTimeText } from '../../parts/secret/one-time-text.tsx'
import { useNow } from '../../parts/use-now.ts'
import { nodeEquivalents } from '../../texts/commands/nodes.ts'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import styles from './join-page.module.css'
import { JoinSteps } from './join-steps.tsx'

const words = texts.join
const NEEDS = 'join-tokens:write'

export function JoinPage() {
  const { state, issue } = useJoin()
  const [name, setName] = useState('')
  return (
    <div className={styles.page}>
      <PageHead title={words.page} />
      <p className={styles.muted}>{words.intro}</p>
      <MachineForm
        running={state.kind === 'running'}
        again={state.kind === 'done'}
        onCreate={(machine) => {
          setName(machine.nodeName)
          void issue(machine)
        }}
      />
      {state.kind === 'failed' ? <Failed {...state.failure} /> : null}
      {state.kind === 'unknown' ? <p role="status">{words.lost}</p> : null}
      {state.kind === 'done' ? <Issued issued={state.value} /> : null}
      <CliFoot same={nodeEquivalents.join(name === '' ? 'acme-4' : name)} />
    </div>
  )
}

interface FormProps {
  readonly running: boolean
  /** True if a command was created already. */
  readonly again: boolean
  onCreate(machine: Parameters<ReturnType<typeof useJoin>['issue']>[0]): void
}

function MachineForm({ running, again, onCreate }: FormProps) {
  const { me } = useSession()
  const stale = useStale()
  const closed = whyClosed(me, NEEDS, stale)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const [nodeName = '', country = '', region = ''] = ['name', 'country', 'region'].map((field) =>
      String(data.get(field) ?? '').trim(),
    )
    onCreate({ nodeName, country, region })
  }
  return (
    <Panel title={words.form}>
      <form className={styles.form} autoComplete="off" onSubmit={submit}>
        <div className={styles.fields}>
          <TextInput
            name="name"
            label={words.name}
            description={words.nameHint}
            required
            spellCheck={false}
          />
          <TextInput name="country" label={words.country} description={words.countryHint} maxLength={2} />
          <TextInput name="region" label={words.region} description={words.regionHint} />
        </div>
        <div className={styles.submit}>
          <Button
            type="submit"
            {...(again ? { variant: 'default' } : {})}
            disabled={running || closed !== undefined}
          >
            {again ? words.again : words.create}
          </Button>
          {closed === undefined ? null : <span className={styles.muted}>{closed}</span>}
        </div>
      </form>
    </Panel>
  )
}

/** The command is forgotten when the page is left. */
function Issued({ issued: { nodeName, command, expiresAt } }: { readonly issued: IssuedJoinToken }) {
  const now = useNow()
  return (
    <>
      <Panel title={words.command}>
        <div className={styles.body}>
          <OneTimeText key={expiresAt} label={words.command} text={command} lost={words.lost} />
          <p className={styles.muted}>{words.commandNote(formatTime(expiresAt, now))}</p>
        </div>
      </Panel>
      <JoinSteps key={nodeName} name={nodeName} />
    </>
  )
}
