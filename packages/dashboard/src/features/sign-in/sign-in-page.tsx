// The sign-in page. The token goes to the server once; the field is not controlled by React, which would copy its value into
// an attribute, and it is emptied when it is sent.

import { Button, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { CallError, explainFailure, type FailureText, isSignedOut } from '../../api/failure.ts'
import { createBrowserClient } from '../../api/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Notice } from '../../parts/notice.tsx'
import { texts } from '../../texts/en.ts'
import { safeNext } from './safe-next.ts'
import styles from './sign-in-page.module.css'

type Shown = { readonly kind: 'ready' | 'sending' } | { readonly kind: 'failed'; readonly text: FailureText }

export function SignInPage() {
  const { next } = useSearch({ from: '/login' })
  return (
    <main className={styles.page}>
      <p className={styles.product}>{texts.product}</p>
      <h1>{texts.signIn.title}</h1>
      {window.isSecureContext ? (
        <SignInForm next={safeNext(next)} />
      ) : (
        <Notice severity="error" title={texts.signIn.insecure}>
          <p>{texts.signIn.insecureNext}</p>
        </Notice>
      )}
      <p className={styles.help}>
        {texts.signIn.help} <code>{texts.signIn.helpCommand}</code>
      </p>
    </main>
  )
}

function SignInForm({ next }: { readonly next: string }) {
  const input = useRef<HTMLInputElement>(null)
  const [shown, setShown] = useState<Shown>({ kind: 'ready' })
  const queries = useQueryClient()
  const navigate = useNavigate()
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const token = takeValue(input.current)
    if (token === '')
      return setShown({ kind: 'failed', text: { title: texts.signIn.noToken, rejections: [] } })
    setShown({ kind: 'sending' })
    const result = await createBrowserClient().tenants.signIn(token)
    if (!result.ok) {
      setShown({ kind: 'failed', text: explainSignIn(new CallError(result.failure)) })
      return input.current?.focus()
    }
    // Nothing that an earlier person read may be shown to this one.
    queries.clear()
    await navigate({ to: next })
  }
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextInput
        ref={input}
        type="password"
        label={texts.signIn.token}
        description={texts.signIn.tokenHint}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        autoFocus
      />
      {shown.kind === 'failed' ? <Failed {...shown.text} /> : null}
      <Button type="submit" disabled={shown.kind === 'sending'}>
        {shown.kind === 'sending' ? texts.signIn.submitting : texts.signIn.submit}
      </Button>
    </form>
  )
}

function takeValue(input: HTMLInputElement | null): string {
  const value = input?.value.trim() ?? ''
  if (input !== null) input.value = ''
  return value
}

function explainSignIn(error: CallError): FailureText {
  if (!isSignedOut(error)) return explainFailure(error)
  return { title: texts.signIn.refused, next: texts.signIn.refusedNext, rejections: [] }
}
