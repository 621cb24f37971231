// Merges settings: for each value, flags override environment variables, which override the contexts file. A token,
// tenant or CA file of a context is used only for the address of that context, so that no token is sent to another
// server.

import { defined } from '@holdfast/contract'
import { HTTP_URL } from '../args/forms.ts'
import type { ChosenSettings, Settings } from '../command.ts'
import type { Contexts } from './contexts.ts'

type Texts = { readonly [name: string]: string | undefined }

export interface Sources {
  readonly flags: Settings
  readonly env: Texts
  readonly contexts: Contexts
}

export function chooseSettings({ flags, env, contexts }: Sources): ChosenSettings {
  const name = flags.context ?? given(env.HOLDFAST_CONTEXT) ?? contexts.current
  const kept = name === undefined ? undefined : contexts.contexts[name]
  const requested = flags.context ?? given(env.HOLDFAST_CONTEXT)
  if (requested !== undefined && kept === undefined)
    return { ok: false, why: `there is no context ${requested}; known contexts: ${known(contexts)}` }
  const url = flags.url ?? given(env.HOLDFAST_URL) ?? kept?.url
  if (url !== undefined && !HTTP_URL.test(url))
    return {
      ok: false,
      why: `${withoutUser(url)} is not a valid platform address; it must be ${HTTP_URL.expected}`,
    }
  if (flags.token === undefined && env.HOLDFAST_TOKEN === '')
    return { ok: false, why: 'HOLDFAST_TOKEN is empty; set it to a token or unset it' }
  const own = kept !== undefined && sameAddress(url, kept.url) ? kept : undefined
  const sent = flags.token ?? env.HOLDFAST_TOKEN
  const token = sent ?? own?.token
  const tenant = flags.tenant ?? given(env.HOLDFAST_TENANT) ?? own?.tenant
  const caFile = flags.caFile ?? given(env.HOLDFAST_CA_FILE) ?? own?.caFile
  return {
    ok: true,
    settings: {
      ...defined({ context: name, url, token, tenant, caFile }),
      ...(sent === undefined && token !== undefined ? { tokenIsStored: true } : {}),
    },
  }
}

/** Hides the user part of an address, which may contain a password. */
const withoutUser = (url: string): string => url.replace(/^.*@/, '...@')

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
const known = ({ contexts }: Contexts): string => Object.keys(contexts).join(', ') || 'none'
const sameAddress = (one: string | undefined, other: string): boolean =>
  one?.replace(/\/+$/, '') === other.replace(/\/+$/, '')
