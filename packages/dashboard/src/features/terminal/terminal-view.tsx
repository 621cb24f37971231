// A terminal connected to one command in a container, for as long as the component is shown.

import { useEffect, useEffectEvent, useRef } from 'react'
import { useSession } from '../../api/session.tsx'
import { type ExecState, type ExecTarget, openExec } from '../../api/terminal/exec-session.ts'
import { texts } from '../../texts/en.ts'
import { useScheme } from '../../theme/scheme.ts'
import { createEmulator, type Emulator } from './create-terminal.ts'
import { limitOutput } from './limit-output.ts'
import styles from './terminal-page.module.css'

interface Props {
  readonly target: ExecTarget
  /** Ends the session; its screen stays. */
  readonly ended: AbortSignal
  onState(state: ExecState): void
  /** The person leaves the terminal with the keyboard. */
  onLeave(): void
}

const WAITING_BYTES = 4 * 1024 * 1024

export function TerminalView({ target, ended, onState, onLeave }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const emulator = useRef<Emulator>(undefined)
  const { client } = useSession()
  const scheme = useScheme()
  const report = useEffectEvent(onState)
  const leave = useEffectEvent(onLeave)
  useEffect(() => {
    if (place.current === null) return
    const made = createEmulator(place.current, texts.terminal.label(target.name))
    emulator.current = made
    const deps = { client, openSocket: (url: string, protocol: string) => new WebSocket(url, protocol) }
    const end = connect(made, place.current, (listener) => openExec(deps, target, listener), {
      onState: (state) => report(state),
      onLeave: () => leave(),
    })
    ended.addEventListener('abort', end)
    return () => {
      end()
      made.terminal.dispose()
    }
  }, [client, target, ended])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors change with the scheme
  useEffect(() => emulator.current?.recolor(), [scheme])
  return <div ref={place} className={styles.screen} data-own-keys />
}

type Open = (listener: Parameters<typeof openExec>[2]) => ReturnType<typeof openExec>

/** Connects the terminal with a session. Returns a function that ends it. */
function connect(
  { terminal, fit }: Emulator,
  place: HTMLElement,
  open: Open,
  { onState, onLeave }: { onState(state: ExecState): void; onLeave(): void },
): () => void {
  const write = limitOutput(WAITING_BYTES, {
    draw: (bytes, drawn) => terminal.write(bytes, drawn),
    onSkipped: (bytes) => terminal.writeln(`\r\n[${texts.terminal.skipped(Math.ceil(bytes / 1024))}]`),
  })
  const session = open({
    onOutput: write,
    onState(state) {
      terminal.options.disableStdin = state.kind !== 'open'
      if (state.kind === 'open') terminal.focus()
      onState(state)
    },
  })
  terminal.onData((text) => session.send(new TextEncoder().encode(text)))
  terminal.onBinary((text) => session.send(Uint8Array.from(text, (character) => character.charCodeAt(0))))
  terminal.onResize((size) => session.resize(size))
  terminal.attachCustomKeyEventHandler((event) => isForTerminal(event, terminal.hasSelection(), onLeave))
  const watcher = new ResizeObserver(fit)
  watcher.observe(place)
  fit()
  session.resize({ cols: terminal.cols, rows: terminal.rows })
  return () => {
    watcher.disconnect()
    session.close()
  }
}

/** Ctrl M, which is the same as Enter in a terminal, leaves it; Ctrl C copies while text is selected. */
function isForTerminal(event: KeyboardEvent, hasSelection: boolean, onLeave: () => void): boolean {
  if (!event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return true
  if (event.key === 'm') {
    event.preventDefault()
    if (event.type === 'keydown') onLeave()
    return false
  }
  return !(event.key === 'c' && hasSelection)
}
