// The last check before a write: no record, archive, backup or event may contain secret values under `secrets`, at any
// depth. A match is a bug of the server, so the status is 500 (docs/design/admission.md#persist-guard).

import { childPath, elementPath, isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import { reject } from '../reject.ts'

const REDACTED = '<redacted>'

export function checkPersistable(value: Json): Rejection[] {
  const rejections: Rejection[] = []
  scan(value, '', rejections)
  return rejections
}

function scan(value: Json, path: string, rejections: Rejection[]): void {
  if (Array.isArray(value)) {
    value.forEach((element, index) => {
      scan(element, elementPath(path, index), rejections)
    })
  }
  if (!isJsonObject(value)) return
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (typeof member !== 'object' || member === null) continue
    const memberPath = childPath(path, key)
    if (key === 'secrets' && Array.isArray(member)) member.forEach(judgeEntry(memberPath, rejections))
    scan(member, memberPath, rejections)
  }
}

function judgeEntry(list: string, rejections: Rejection[]): (entry: Json, index: number) => void {
  return (entry, index) => {
    if (!isJsonObject(entry)) return
    const refuse = (code: 'secret_material_would_persist' | 'secret_generate_would_persist', key: string) => {
      const field = childPath(elementPath(list, index), key)
      rejections.push(reject(code, field, null, {}, REDACTED))
    }
    if (holdsSomething(entry.values)) refuse('secret_material_would_persist', 'values')
    if (holdsSomething(entry.generate)) refuse('secret_generate_would_persist', 'generate')
  }
}

function holdsSomething(value: Json | undefined): boolean {
  if (value === undefined || value === null) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}
