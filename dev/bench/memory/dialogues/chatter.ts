import type { Choice } from './topic.ts';

/** Turns that say nothing that is asked for, with words that much else has too. */
export const CHATTER: Choice = [
  'Hey {other}! Good to see you. How have you been?',
  "I'm swamped with the kids and work. What's up with you? Anything new?",
  "That's so good to hear! You always have great stories.",
  'Thanks, {other}! Your support means a lot to me.',
  'Wow, what a great photo! Where was it taken?',
  "Life is full of surprises, isn't it? We just have to keep going.",
  'I totally agree, {other}. Family and friends are what matters most.',
  'Sounds like a plan! Let me know when you have time.',
  'It was so nice catching up, {other}. Talk to you soon!',
  "Same here. Work has been a lot, but I'm learning to take breaks.",
  "You're doing great, {other}. Keep following your dreams!",
  'Haha, that is so true! My kids would love that.',
  'The weather here has been awful this week, so we stayed in.',
  'I know what you mean. It takes time to find out what makes you happy.',
  'That reminds me of our school days. Remember the summer by the lake?',
  'Absolutely! Nature and music are my favorite ways to reset.',
  'Oh wow, congrats! That is a big step, you should be proud.',
  'No worries at all. We all have days like that.',
  "I'm thinking about making some changes this year, but nothing is decided yet.",
  'Have you been to any good concerts or classes recently?',
  'My weekend was quiet. I read a book and took the kids to the park.',
  'Do you want to go running or camping together some time?',
  'I love painting and reading on rainy days, but I rarely have time for it.',
  'We should take a trip together next summer!',
];

export const NAMES: Choice = [
  'Marisol',
  'Dorian',
  'Ingrid',
  'Kofi',
  'Tamsin',
  'Ravi',
  'Odette',
  'Bram',
  'Lucia',
  'Anders',
];
