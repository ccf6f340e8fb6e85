import { WHEN } from './topic.ts';
import type { Topic } from './topic.ts';

/** Classes, trips, presents, plans, pets, books. */
export const FIRST_TOPICS: readonly [Topic, ...Topic[]] = [
  {
    says: [
      'I signed up for a {what} class {when}, and it was so calming!',
      'Guess what, I joined a {what} class {when}.',
    ],
    asks: ['Have you found anything to do in the evenings?'],
    answers: ["Yes, {what}! I started {when} and I can't stop talking about it."],
    questions: ['When did {name} sign up for a {what} class?', 'When did {name} start taking {what} lessons?'],
    replies: ['A {what} class sounds wonderful, {name}! Classes like that are a great way to unwind.'],
    slots: { what: ['pottery', 'watercolor', 'salsa', 'bread baking', 'archery', 'calligraphy'], when: WHEN },
    key: 'what',
  },
  {
    says: ['We camped at {where} {when} with the kids. We roasted marshmallows and watched a meteor shower.'],
    asks: ['What have you all been up to lately?'],
    answers: ['Camping at {where}! The kids explored the forest and we roasted marshmallows {when}.'],
    questions: [
      'When did {name} go camping at {where}?',
      "What did {name}'s family do on the camping trip to {where}?",
    ],
    replies: [
      'Camping with the kids is the best, {name}. Nature always resets me.',
      'A meteor shower! What a memory for the family.',
    ],
    slots: { where: ['the lake', 'the beach', 'the mountains', 'Silver Canyon', 'the redwoods'], when: WHEN },
    key: 'where',
  },
  {
    says: ['My {kin} gave me this {thing}. It stands for {meaning}, and I wear it every day.'],
    asks: ["That's a lovely {thing}, {name}. Does it have a special meaning?"],
    answers: ['Thanks! My {kin} gave it to me, and it stands for {meaning}.'],
    questions: ["What does {name}'s {thing} symbolize?", 'Who gave {name} the {thing} as a present?'],
    replies: ['That is a precious thing to have from your {kin}. Family treasures matter.'],
    slots: {
      kin: ['grandma', 'aunt', 'brother', 'godfather'],
      thing: ['necklace', 'ring', 'bracelet', 'brooch'],
      meaning: ['love and strength', 'patience', 'our roots', 'new beginnings', 'courage'],
    },
    key: 'thing',
  },
  {
    says: ["I've been looking into {field} programs. Helping {whom} feels like what I'm meant to do."],
    asks: ['Have you thought about what you will study?', "What's next for you, {name}?"],
    answers: ['I keep coming back to {field}. I would love to work with {whom}.'],
    questions: [
      'What field would {name} be likely to pursue in education?',
      'Whom does {name} want to help with a career in {field}?',
    ],
    replies: ['You would be a great fit for {field}, {name}. Your empathy helps people.'],
    slots: {
      field: ['counseling', 'nursing', 'social work', 'speech therapy', 'marine biology'],
      whom: ['teenagers', 'veterans', 'refugees', 'stroke patients', 'sea turtles'],
    },
    key: 'field',
  },
  {
    says: ['I ran a {race} for {cause} {when}. It made me think about taking care of our minds.'],
    asks: ['You look tired, {name}! Long weekend?'],
    answers: ['I ran a {race} for {cause} {when}, and my legs still hurt.'],
    questions: ['When did {name} run a {race}?', 'What did the {race} that {name} took part in raise awareness for?'],
    replies: ['Running a {race} for a cause is so inspiring, {name}!', 'Proud of you! Did you raise much at the race?'],
    slots: {
      race: ['charity race', 'half marathon', 'night run', 'relay'],
      cause: ['mental health', 'the animal shelter', 'clean rivers', 'the children hospital'],
      when: WHEN,
    },
    key: 'race',
  },
  {
    says: ['We adopted a {pet} {when}! We named {it} {petname} and the house is chaos.'],
    asks: ['Is that a new {pet} in the photo?'],
    answers: ['Yes, meet {petname}! We brought {it} home {when}.'],
    questions: ["What is the name of {name}'s {pet}?", 'When did {name} adopt a {pet}?'],
    replies: [
      '{petname} is adorable! Pets bring so much joy to a home.',
      'Aw, hello {petname}! My sister had a {pet} too.',
    ],
    slots: {
      pet: ['kitten', 'puppy', 'parrot', 'tortoise', 'rabbit'],
      petname: ['Oscar', 'Luna', 'Biscuit', 'Pepper', 'Juno', 'Toby'],
      it: ['him', 'her'],
      when: WHEN,
    },
    key: 'pet',
  },
  {
    says: ['I finished reading "{book}" {when}. It taught me that {lesson}.'],
    asks: ['Any good books lately?', 'What are you reading these days?'],
    answers: ['"{book}", I could not put it down. It taught me that {lesson}.'],
    questions: [
      'Which book did {name} read that taught that {lesson}?',
      'What did {name} take away from the book "{book}"?',
    ],
    replies: ['I love "{book}"! Books have a way of guiding us.', 'I should read more. That book is on my shelf.'],
    slots: {
      book: ['The Quiet Orchard', 'Becoming Small', 'A Map of Salt', 'Letters to Nobody', 'The Glass Ferry'],
      lesson: [
        'it is never too late to start over',
        'small steps count',
        'asking for help is strength',
        'grief has its seasons',
      ],
    },
    key: 'book',
  },
  {
    says: [
      'I painted a {scene} {when}. Painting helps me get my feelings out.',
      'Take a look, I did a painting of a {scene} {when}.',
    ],
    asks: ['Have you made any art recently?'],
    answers: ['A {scene}, in oils. It took me until three in the morning {when}.'],
    questions: ['What did {name} paint?', 'When did {name} paint a {scene}?'],
    replies: [
      'Wow, {name}, that painting of the {scene} is stunning. The colors!',
      'Painting must be such a good outlet for you.',
    ],
    slots: {
      scene: ['sunrise over a lake', 'field of sunflowers', 'horse', 'harbor at night', 'winding road'],
      when: WHEN,
    },
    key: 'scene',
  },
  {
    says: ['I got a job at {place} {when}! I start as a {role}.'],
    asks: ['How did the interview go?'],
    answers: ['They took me! I start as a {role} at {place}.'],
    questions: ["What is {name}'s position at {place}?", 'Where did {name} find work as a {role}?'],
    replies: ['Congrats on the new job, {name}! They are lucky to have you.'],
    slots: {
      place: ['the harbor museum', 'a bakery downtown', 'the county library', 'a game studio', 'the botanical garden'],
      role: ['curator', 'barista', 'guide', 'sound designer', 'archivist'],
      when: WHEN,
    },
    key: 'place',
  },
  {
    says: ['My {kin} and I have been {state} for {years} years now. Time flies!'],
    asks: ['How long have you and your {kin} been {state}?'],
    answers: ['{years} years already! It feels like we met last summer.'],
    questions: ['How long have {name} and the {kin} been {state}?', 'For how many years has {name} been {state}?'],
    replies: ['{years} years, wow! Congratulations, {name}. Here is to many more.'],
    slots: {
      kin: ['husband', 'partner', 'wife'],
      state: ['married', 'together', 'engaged'],
      years: ['three', 'five', 'seven', 'eleven'],
    },
    key: 'state',
  },
  {
    says: ['I moved here from {country} {years} years ago, and my friends from back home still visit.'],
    asks: ['Where are you from originally?'],
    answers: ['{country}! I moved away {years} years ago, and I still miss the food.'],
    questions: ['Where did {name} move from {years} years ago?', "What is {name}'s home country?"],
    replies: ['{country} must be beautiful. Moving to another country takes courage.'],
    slots: { country: ['Sweden', 'Portugal', 'Chile', 'Vietnam', 'Kenya'], years: ['four', 'six', 'nine', 'twelve'] },
    key: 'country',
  },
];
