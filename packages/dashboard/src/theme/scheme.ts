// The color scheme: what the person chose, or what the system prefers. Mantine's own switch writes a style element, which the
// content security policy forbids, so the choice is passed to its provider instead.

import { useSyncExternalStore } from 'react'

export const SCHEME_CHOICES = ['system', 'light', 'dark'] as const
export type SchemeChoice = (typeof SCHEME_CHOICES)[number]

const KEY = 'holdfast-scheme'
const DARK = '(prefers-color-scheme: dark)'
const listeners = new Set<() => void>()

function schemeChoice(): SchemeChoice {
  const stored = localStorage.getItem(KEY)
  return SCHEME_CHOICES.find((choice) => choice === stored) ?? 'system'
}

export function chooseScheme(choice: SchemeChoice): void {
  localStorage.setItem(KEY, choice)
  for (const listener of listeners) listener()
}

function shownScheme(): 'light' | 'dark' {
  const choice = schemeChoice()
  if (choice !== 'system') return choice
  return matchMedia(DARK).matches ? 'dark' : 'light'
}

/** Listens to this tab, to the system, and to other tabs. */
function listen(listener: () => void): () => void {
  const query = matchMedia(DARK)
  listeners.add(listener)
  query.addEventListener('change', listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    query.removeEventListener('change', listener)
    removeEventListener('storage', listener)
  }
}

export const useScheme = (): 'light' | 'dark' => useSyncExternalStore(listen, shownScheme)
export const useSchemeChoice = (): SchemeChoice => useSyncExternalStore(listen, schemeChoice)
