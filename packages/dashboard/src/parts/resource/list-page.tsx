// The frame of a page with one list: title and count, the button that makes a new record, filter, rows, and the foot.

import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Equivalent } from '../../texts/commands.ts'
import { resourceTexts } from '../../texts/en/resources.ts'
import { ActOutcome, type Outcome } from '../act-outcome.tsx'
import { CliFoot } from '../cli-foot.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Notice } from '../notice.tsx'
import { PageHead } from '../page-head.tsx'
import styles from './record-list.module.css'

interface Props {
  readonly title: string
  readonly count: string | undefined
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly same: Equivalent
}

export function ListPage({ title, count, actions, children, same }: Props) {
  return (
    <div className={styles.page}>
      <PageHead
        title={title}
        aside={count === undefined ? null : <span className={styles.count}>{count}</span>}
        {...(actions === undefined ? {} : { actions })}
      />
      {children}
      <CliFoot same={same} />
    </div>
  )
}

interface ToolsProps {
  readonly q: string | undefined
  /** False if there is nothing to filter. */
  readonly filters: boolean
  readonly outcome: Outcome
  /** Further choices beside the filter. */
  readonly children?: ReactNode
  onChange(q: string | undefined): void
}

/** The line above the list: a filter by part of a name, and the outcome of the last change. */
export function ListTools({ q, filters, outcome, children, onChange }: ToolsProps) {
  return (
    <div className={styles.tools}>
      {filters || q !== undefined ? (
        <TextInput
          aria-label={resourceTexts.filter}
          placeholder={resourceTexts.filter}
          size="xs"
          w={240}
          data-filter
          defaultValue={q ?? ''}
          onChange={({ currentTarget: { value } }) => onChange(value === '' ? undefined : value)}
        />
      ) : null}
      {children}
      <ActOutcome outcome={outcome} />
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  readonly next: string
  readonly command: string
}

/** The purpose of the resource, and the command that creates the first one. */
export function Teaching({ title, next, command }: EmptyProps) {
  return (
    <Notice severity="info" title={title}>
      <p>{next}</p>
      <p className={styles.command}>
        <code>{command}</code> <CopyButton text={command} />
      </p>
    </Notice>
  )
}
