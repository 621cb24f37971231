// The keys of a secret and the source of each value. The fields of values are not controlled by React, which would copy a
// value into an attribute; the form reads them when it is sent.

import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useId } from 'react'
import { texts } from '../../texts/en.ts'
import { Icon } from '../icon.tsx'
import { type KeyRow, SECRET_SOURCES } from './read-material.ts'
import styles from './secret-fields.module.css'

const words = texts.secrets.form
const SOURCES = SECRET_SOURCES.map((value) => ({ value, label: words.sources[value] }))

interface Props {
  readonly rows: readonly KeyRow[]
  onChange(rows: readonly KeyRow[]): void
}

let made = 0
export const newRow = (key = ''): KeyRow => {
  made += 1
  return { id: `value-${made}`, key, source: 'generate' }
}

export function SecretFields({ rows, onChange }: Props) {
  const change = (id: string, part: Partial<KeyRow>): void =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...part } : row)))
  return (
    <div className={styles.fields}>
      {rows.map((row, at) => (
        <div key={row.id} className={styles.row}>
          <TextInput
            label={words.keyOf(at + 1)}
            value={row.key}
            autoComplete="off"
            spellCheck={false}
            onChange={({ currentTarget }) => change(row.id, { key: currentTarget.value.trim() })}
          />
          <NativeSelect
            label={words.sourceOf(row.key === '' ? words.keyOf(at + 1) : row.key)}
            data={SOURCES}
            value={row.source}
            onChange={({ currentTarget }) =>
              change(row.id, {
                source: SECRET_SOURCES.find((each) => each === currentTarget.value) ?? 'generate',
              })
            }
          />
          <Value key={row.source} row={row} />
          {rows.length === 1 ? null : (
            <button
              type="button"
              className={styles.remove}
              aria-label={words.removeKey(row.key === '' ? words.keyOf(at + 1) : row.key)}
              onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
            >
              <Icon name="cross" size={14} />
            </button>
          )}
        </div>
      ))}
      <div>
        <Button variant="default" size="compact-sm" onClick={() => onChange([...rows, newRow()])}>
          {words.addKey}
        </Button>
      </div>
    </div>
  )
}

function Value({ row: { id, source } }: { readonly row: KeyRow }) {
  const field = useId()
  switch (source) {
    case 'generate':
      return <span className={styles.generated}>{words.generated}</span>
    case 'typed':
      return (
        <TextInput
          className={styles.value}
          name={id}
          type="password"
          label={words.typed}
          autoComplete="new-password"
          spellCheck={false}
        />
      )
    case 'file':
      return (
        <span className={styles.value}>
          <label htmlFor={field} className={styles.fileLabel}>
            {words.file}
          </label>
          <input id={field} name={id} type="file" className={styles.file} />
        </span>
      )
  }
}

/** Empties every field of a value, so that nothing stays in the page after it was sent. */
export function emptyValues(form: HTMLFormElement, rows: readonly KeyRow[]): void {
  for (const { id } of rows) {
    const field = form.elements.namedItem(id)
    if (field instanceof HTMLInputElement) field.value = ''
  }
}
