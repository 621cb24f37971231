// Keys of the whole page. Single keys work only outside of fields, and a person can turn them off, because speech input
// and screen readers send them too.

import { useEffect, useEffectEvent } from 'react'

interface Shortcuts {
  onPalette(): void
  onHelp(): void
}

const KEY = 'holdfast-single-keys'
export const singleKeysOn = (): boolean => localStorage.getItem(KEY) !== 'off'
export const switchSingleKeys = (on: boolean): void => localStorage.setItem(KEY, on ? 'on' : 'off')

export function useShortcuts({ onPalette, onHelp }: Shortcuts): void {
  const handle = useEffectEvent((event: KeyboardEvent) => {
    if (hasOwnKeys(event)) return
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) return run(event, onPalette)
    if (isTyping(event) || !singleKeysOn()) return
    if (event.key === '?') return run(event, onHelp)
    if (event.key === '/') return run(event, () => elements('[data-filter]')[0]?.focus())
    if (event.key === 'j') return run(event, () => walk(1))
    if (event.key === 'k') return run(event, () => walk(-1))
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => handle(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}

function run(event: KeyboardEvent, act: () => void): void {
  event.preventDefault()
  act()
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (
    ctrlKey ||
    metaKey ||
    altKey ||
    (target instanceof HTMLElement && target.matches('input, textarea, select'))
  )
}

/** A terminal needs every key, also those of the page. */
const hasOwnKeys = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && target.closest('[data-own-keys]') !== null

const elements = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)]

/** Moves the focus to the next or previous row; Enter then opens it, because a row's target is a link. */
function walk(step: 1 | -1): void {
  const rows = elements('[data-row]')
  const at = rows.findIndex((row) => row.matches(':focus'))
  rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.focus()
}
