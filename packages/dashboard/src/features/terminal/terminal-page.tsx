// A terminal in a container of the deployment, in the replica of the person's choice.

import type { PlacementEntry } from '@holdfast/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import type { ExecState, ExecTarget } from '../../api/terminal/exec-session.ts'
import { usePlacements } from '../../api/use-deployments.ts'
import { useStale } from '../../live/live-provider.tsx'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Notice } from '../../parts/notice.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { explainState } from './explain-end.ts'
import styles from './terminal-page.module.css'
import { TerminalView } from './terminal-view.tsx'

const route = getRouteApi('/t/$tenant/deployments/$name/terminal')
const NEEDS = 'exec'
const SHELL = 'sh'

export function TerminalPage() {
  const { name } = route.useParams()
  const { replica } = route.useSearch()
  const { me } = useSession()
  return (
    <div className={styles.page}>
      {mayDo(me, NEEDS) ? (
        <WhileRunning key={name} name={name} replica={replica} />
      ) : (
        <Notice severity="warning" title={texts.roles.needs(NEEDS, me.token.role)} />
      )}
      <CliFoot same={equivalents.terminal(name, replica)} />
    </div>
  )
}

interface Place {
  readonly name: string
  readonly replica: number | undefined
}

function WhileRunning({ name, replica }: Place) {
  const { data, error } = usePlacements(name)
  // A session that is open stays, although its replica stops: its end is shown in it.
  const [opened, setOpened] = useState(false)
  const running = data?.filter(({ state }) => state === 'running' || state === 'ready') ?? []
  if (data === undefined)
    return error === null ? <Loading lines={8} /> : <Failed {...explainFailure(error)} />
  if (running.length === 0 && !opened)
    return (
      <Notice severity="info" title={texts.terminal.none}>
        <p>{texts.terminal.noneNext}</p>
      </Notice>
    )
  return <Connected name={name} replica={replica} running={running} onOpened={() => setOpened(true)} />
}

/** One session after another: each attempt has a terminal of its own. */
interface Attempt {
  readonly target: ExecTarget
  readonly ended: AbortController
  readonly number: number
}

const attemptOf = (place: Place, command: string, number: number): Attempt => ({
  target: { ...place, command: command.split(/\s+/) },
  ended: new AbortController(),
  number,
})

interface ConnectedProps extends Place {
  readonly running: readonly PlacementEntry[]
  onOpened(): void
}

function Connected({ name, replica, running, onOpened }: ConnectedProps) {
  const navigate = route.useNavigate()
  const [attempt, setAttempt] = useState(() => attemptOf({ name, replica }, SHELL, 1))
  const [state, setState] = useState<ExecState>({ kind: 'opening' })
  const button = useRef<HTMLButtonElement>(null)
  const isOpen = state.kind === 'open' || state.kind === 'opening'
  const start = (chosen: number | undefined, command: string): void => {
    setAttempt(attemptOf({ name, replica: chosen }, command, attempt.number + 1))
    void navigate({ search: chosen === undefined ? {} : { replica: chosen }, replace: true })
  }
  const show = (next: ExecState): void => {
    if (next.kind === 'open') onOpened()
    setState(next)
  }
  return (
    <>
      <Choice
        replica={replica}
        running={running}
        isOpen={isOpen}
        button={button}
        onStart={start}
        onEnd={() => attempt.ended.abort()}
      />
      <div className={styles.frame}>
        <TerminalView
          key={attempt.number}
          target={attempt.target}
          ended={attempt.ended.signal}
          onState={show}
          onLeave={() => button.current?.focus()}
        />
      </div>
      <p className={styles.state} role="status">
        <strong>{explainState(state, attempt.target.command[0] ?? '')}</strong>
        <span className={styles.muted}>
          {texts.terminal.leave} {texts.terminal.audited}
        </span>
      </p>
    </>
  )
}

interface ChoiceProps {
  readonly replica: number | undefined
  readonly running: readonly PlacementEntry[]
  readonly isOpen: boolean
  readonly button: React.RefObject<HTMLButtonElement | null>
  onStart(replica: number | undefined, command: string): void
  onEnd(): void
}

/** The replica and the command. Another replica is connected at once; another command when it is sent. */
function Choice({ replica, running, isOpen, button, onStart, onEnd }: ChoiceProps) {
  const stale = useStale()
  const command = useRef<HTMLInputElement>(null)
  const typed = (): string => command.current?.value.trim() || SHELL
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!stale) onStart(replica, typed())
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <NativeSelect
        label={texts.replicas.replica}
        size="xs"
        value={replica ?? ''}
        disabled={stale}
        onChange={({ currentTarget: { value } }) =>
          onStart(value === '' ? undefined : Number(value), typed())
        }
      >
        <option value="">{texts.terminal.first}</option>
        {running.map(({ replica: number, nodeName, nodeId }) => (
          <option key={`${number}-${nodeId}`} value={number}>
            {texts.terminal.replica(number, nodeName)}
          </option>
        ))}
      </NativeSelect>
      <TextInput
        ref={command}
        className={styles.command ?? ''}
        label={texts.terminal.command}
        size="xs"
        defaultValue={SHELL}
        autoComplete="off"
        spellCheck={false}
      />
      <Button ref={button} type="submit" variant="default" size="xs" disabled={stale}>
        {isOpen ? texts.terminal.reconnect : texts.terminal.connect}
      </Button>
      {isOpen ? (
        <Button variant="default" size="xs" onClick={onEnd}>
          {texts.terminal.disconnect}
        </Button>
      ) : null}
      {stale ? <span className={styles.muted}>{texts.live.closed}</span> : null}
    </form>
  )
}
