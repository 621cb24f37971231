// The fields of a form. None is controlled by React, which would copy values into attributes.

import { NativeSelect, TextInput } from '@mantine/core'
import { useId } from 'react'
import styles from './dialog.module.css'
import { useFault } from './form-dialog.tsx'

interface Field {
  /** The field of the API, under which the form hands the value over and the server rejects it. */
  readonly name: string
  readonly label: string
  readonly hint?: string
}

interface TextProps extends Field {
  readonly first?: boolean
  readonly value?: string
  readonly type?: 'text' | 'password'
  /** A fault that the page found before it sent anything. */
  readonly fault?: string
}

export function TextField({ name, label, hint, first = false, value = '', type = 'text', fault }: TextProps) {
  const rejected = useFault(name)
  return (
    <TextInput
      name={name}
      label={label}
      type={type}
      {...(type === 'password' ? {} : { defaultValue: value })}
      {...(hint === undefined ? {} : { description: hint })}
      autoComplete="off"
      spellCheck={false}
      error={fault ?? rejected ?? null}
      {...(first ? { 'data-autofocus': true } : {})}
    />
  )
}

interface SelectProps extends Field {
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  readonly value?: string
}

export function SelectField({ name, label, hint, choices, value }: SelectProps) {
  const fault = useFault(name)
  return (
    <NativeSelect
      name={name}
      label={label}
      data={[...choices]}
      {...(value === undefined ? {} : { defaultValue: value })}
      {...(hint === undefined ? {} : { description: hint })}
      error={fault ?? null}
    />
  )
}

export function CheckField({ name, label, hint }: Field) {
  const id = useId()
  return (
    <div className={styles.check}>
      <input
        id={id}
        type="checkbox"
        name={name}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint === undefined ? null : (
          <p id={`${id}-hint`} className={styles.note}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

/** The typed text without spaces around it. */
export const typedText = (values: FormData, name: string): string => String(values.get(name) ?? '').trim()
