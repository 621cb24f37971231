// Search or run: a list of commands that narrows while a person types.

import { Modal } from '@mantine/core'
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from 'react'
import { useFoundDeployments } from '../api/use-deployments.ts'
import { useFoundNodes } from '../api/use-nodes.ts'
import { texts } from '../texts/en.ts'
import { type Command, findCommands, type Offered, readTyped } from './find-commands.ts'
import styles from './palette.module.css'

interface Props {
  readonly opened: boolean
  readonly offered: Offered
  onClose(): void
  onRun(command: Command): void
}

export function Palette({ opened, onClose, ...rest }: Props) {
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      lockScroll={false}
      size={560}
      yOffset="12vh"
      padding={0}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={texts.palette.title}>
        <Search {...rest} onClose={onClose} />
      </Modal.Content>
    </Modal.Root>
  )
}

function Search({ offered, onClose, onRun }: Omit<Props, 'opened'>) {
  const id = useId()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const name = useDeferredValue(readTyped(text).name)
  const found = { deployments: useFoundDeployments(name), nodes: useFoundNodes(name) }
  const commands = findCommands(text, offered, found)
  const at = Math.min(chosen, commands.length - 1)
  const run = (command: Command | undefined): void => {
    if (command === undefined) return
    onClose()
    onRun(command)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key]
    if (step === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (step === undefined) run(commands[at])
    else setChosen((at + step + commands.length) % Math.max(1, commands.length))
  }
  return (
    <div className={styles.palette}>
      <input
        className={styles.input}
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={commands[at] === undefined ? undefined : `${id}-${at}`}
        aria-label={texts.palette.title}
        placeholder={texts.palette.placeholder}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <Results id={id} commands={commands} at={at} onRun={run} />
      <p className={styles.hint}>{texts.palette.hint}</p>
    </div>
  )
}

const STEPS: { readonly [key: string]: number } = { ArrowDown: 1, ArrowUp: -1 }

interface ResultsProps {
  readonly id: string
  readonly commands: readonly Command[]
  readonly at: number
  onRun(command: Command): void
}

function Results({ id, commands, at, onRun }: ResultsProps) {
  useEffect(() => {
    // New browsers return a promise here, which React would call when the list closes.
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, at])
  if (commands.length === 0) return <p className={styles.nothing}>{texts.palette.nothing}</p>
  return (
    <div className={styles.list} role="listbox" id={id} aria-label={texts.palette.title}>
      {commands.map((command, index) => (
        // The keyboard chooses by the input's aria-activedescendant; a click chooses directly.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
        <div
          key={command.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          className={styles.option}
          onClick={() => onRun(command)}
        >
          <span className={styles.label}>{command.label}</span>
          {command.hint === undefined ? null : <span className={styles.muted}>{command.hint}</span>}
          <span className={styles.group}>{command.group}</span>
        </div>
      ))}
    </div>
  )
}
