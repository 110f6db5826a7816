// Shows settings: the reference table as Markdown, and a broker's present values as `.properties` text.
import { propertyLine } from './properties.ts';
import { foreignFamilies } from './schema/foreign.ts';
import { aliases, families, specs } from './schema.ts';
import type { Settings } from './settings.ts';
import type { Spec } from './spec.ts';
import { allowedText } from './validate.ts';

const effectWords = { used: '', accepted: 'no effect', later: 'later' } as const;

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function bounds(spec: Spec): string {
  if (spec.kind === 'text' || spec.kind === 'path') return spec.allowed ?? spec.kind;
  return allowedText(spec);
}

function row(name: string, spec: Spec): string {
  const shown = spec.derived ?? (spec.default === '' ? '(empty)' : `\`${String(spec.default)}\``);
  const unit = spec.unit === undefined || spec.unit === '' ? '' : ` ${spec.unit}`;
  const effect = effectWords[spec.effect];
  const meaning = effect === '' ? spec.meaning : `${spec.meaning} (${effect})`;
  return `| \`${name}\` | ${cell(shown)}${unit} | ${cell(bounds(spec))} | ${cell(meaning)} |`;
}

/** The reference of all settings. */
export function settingsPage(): string {
  const lines: string[] = [];
  for (const family of families) {
    lines.push(`### ${family.title}`, '', '| name | default | allowed | meaning |', '|---|---|---|---|');
    for (const [name, spec] of Object.entries(family.settings)) lines.push(row(name, spec));
    lines.push('');
  }
  lines.push('### Known, without effect', '', "Apache's settings that are accepted with a warning.", '');
  for (const family of foreignFamilies) {
    const names = family.words
      .trim()
      .split(/\s+/)
      .map((word) => `\`${word.slice(0, word.indexOf('='))}\``);
    lines.push(`- ${family.meaning}${family.effect === 'later' ? ' (later)' : ''}: ${names.join(', ')}`);
  }
  lines.push('', '### Older spellings', '');
  for (const [old, name] of Object.entries(aliases)) lines.push(`- \`${old}\` is read as \`${name}\``);
  return `${lines.join('\n')}\n`;
}

/** All settings as an admin tool reads them: `name=value` lines in order of the names. */
export function settingsAsProperties(settings: Settings): string {
  const values = settings as unknown as Readonly<Record<string, unknown>>;
  const lines: string[] = [];
  for (const [name, spec] of specs) {
    const value = Object.hasOwn(values, name) ? values[name] : (settings.given[name] ?? spec.default);
    lines.push(propertyLine(name, String(value)));
  }
  return lines.sort().join('');
}
